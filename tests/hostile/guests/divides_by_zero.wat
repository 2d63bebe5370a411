;; Divides an integer by zero while it starts. It ends in a trap, not in a signal to the host.
(module
  (memory 1)
  (func $start
    (i32.store (i32.const 0)
      (i32.div_s (i32.const 1) (i32.load (i32.const 4)))))
  (start $start))
