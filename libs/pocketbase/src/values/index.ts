export { createRowReader, type Loss, type NamedFile, type ReadRow, type RowContext, storedNameOf } from './read-row.ts';
