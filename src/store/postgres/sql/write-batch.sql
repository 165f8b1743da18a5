-- write-batch: a batch of pages and attempts in one transaction.        Cost: O(log n) in the pages, for each row.
-- Every parameter is one column, as an array. batch-writer.ts builds them in the order of the function's parameters.
-- 1 jobs   2 workers   3-23 pages   24-26 records   27-30 invalid records   31-43 attempts: see 002-write-batch.sql.
-- 44-46 unchanged pages   47-57 memories: see 007-page-memories.sql.

-- name: writeBatch
SELECT write_batch(
  $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26,
  $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43
) AS had;

-- name: writeAndRemember
SELECT remember_batch(
  written.had,
  $44, $45, $46, $47, $48, $49, $50, $51, $52, $53, $54, $55, $56, $57
) AS had FROM (
  SELECT write_batch(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25,
    $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43
  ) AS had OFFSET 0
) AS written;
