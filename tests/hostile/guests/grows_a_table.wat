;; A table that grows without end, which costs the host memory and the plugin none. Its elements are counted and limited.
(module
  (table $table 1 funcref)
  (func $start
    (loop $again
      (drop (table.grow $table (ref.null func) (i32.const 1000)))
      (br $again)))
  (start $start))
