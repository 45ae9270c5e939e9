import { flag, freeText } from '@recordbus/http';
import { z } from 'zod';
import { formats } from '../formats/source-row.ts';

/** An export's query parameters (export §1.2). */
export const exportQuery = z.object({
  format: z
    .enum(formats, `must be one of ${formats.join(', ')}`)
    .default('csv')
    .describe("the answer's format"),
  filter: freeText.describe('an expression in the filter language'),
  sort: freeText.describe('field names, separated by commas; - before a name sorts descending'),
  fields: freeText.describe('members to show, separated by commas; all by default'),
  expand: freeText.describe('relations and back-relations, separated by commas; CSV has them as JSON'),
  bom: flag.describe('for CSV: begin with a byte order mark, by which Excel knows that the text is UTF-8'),
  raw: flag.describe("leave CSV cells as they are: by default a text that a spreadsheet would run begins with '"),
});

/** A client's export. */
export type ExportRequest = z.output<typeof exportQuery>;
