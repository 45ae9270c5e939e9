/** A batch ends before its body has more bytes. A larger delivery is a batch of its own (webhooks §2.11). */
const maxBatchBytes = 1024 * 1024;

/** SQL: whether a batch has room for the body of a row and for those before it in the window `before`. */
export const fits = (body: string): string =>
  `(row_number() over before = 1 or coalesce(sum(octet_length(${body}) + 1) over before, 0) < ${maxBatchBytes})`;
