;; Two memories, each within the limit, together beyond it: the honest plugin's and 63.4 MiB here. The limit counts them
;; together.
(module
  (memory 1015))
