-- write-batch: a batch of pages and tries in one transaction.        Cost: O(log n) in the pages, for each row.
-- 1 jobs   2 workers   3 to 23 columns of pages   24 to 26 of records   27 to 30 of invalid records   31 to 43 of tries;
-- see the function, in migrations/002-write-batch.sql. What comes with them: 44 to 46 which pages were unchanged   47 to 57
-- columns of memories; see migrations/007-page-memories.sql.

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
