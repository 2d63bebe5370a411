;; Never comes to its first export: the start function of a module loops for ever. Loading ends by the deadline of a call.
(module
  (func $start (loop $again (br $again)))
  (start $start))
