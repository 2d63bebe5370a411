;; Throws an exception that nobody catches. It does not reach the host as one.
(module
  (tag $thrown)
  (func $start (throw $thrown))
  (start $start))
