;; Would wait in the processor, where no deadline looks: an atomic wait on memory shared between threads. No such module is
;; compiled.
(module
  (memory 1 1 shared)
  (func $start
    (drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1))))
  (start $start))
