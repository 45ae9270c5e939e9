import { flag, freeText } from '@recordbus/shared/http';
import { z } from 'zod';
import { formats } from '../formats/source-row.ts';

/** The query parameters of an export (export §1.2). */
export const exportQuery = z.object({
  format: z
    .enum(formats, `must be one of ${formats.join(', ')}`)
    .default('csv')
    .describe('the format of the answer'),
  filter: freeText.describe('an expression in the filter language'),
  sort: freeText.describe('names of fields, separated by commas; - before a name sorts descending'),
  fields: freeText.describe('names of the members to show, separated by commas; all by default'),
  expand: freeText.describe('names of relations and back-relations, separated by commas; CSV has them as JSON'),
  bom: flag.describe('for CSV: begin with a byte order mark, by which Excel knows that the text is UTF-8'),
  raw: flag.describe("leave cells of CSV as they are: by default a text that a spreadsheet would run begins with '"),
});

/** A client's export. */
export type ExportRequest = z.output<typeof exportQuery>;
