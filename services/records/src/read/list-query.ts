import { boundedNumber, decimal, describedAs, flag, freeText, pageQuery } from '@recordbus/http';
import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';
import { maxCursorLength } from './cursor.ts';

/** How much one of two parts counts. */
const share = decimal
  .refine((value = 0) => value >= 0 && value <= 1, 'must be from 0 to 1')
  .transform((value = 0.5) => value)
  .meta(describedAs({ type: 'number', minimum: 0, maximum: 1, default: 0.5 }));

/** A list's query parameters (records §3.1). */
export const listQuery = pageQuery.extend({
  sort: freeText.describe('field names, separated by commas; - before a name sorts descending'),
  consistency: z
    .literal('eventual')
    .optional()
    .describe("`eventual`: a read replica may answer although it lacks the caller's last writes"),
  fields: freeText.describe('members to show, separated by commas; all by default'),
  skipTotal: flag.describe('do not count the records'),
  filter: freeText.describe('an expression in the filter language'),
  cursor: boundedText(maxCursorLength)
    .optional()
    .describe("the page before's `next`; empty for the first page. Pages by cursor have no totals"),
  expand: freeText.describe('relations and back-relations, separated by commas, whose records are shown below expand'),
  search: freeText.describe('a text whose words the records have; the collection needs a search index'),
  searchMode: z.enum(['all', 'any']).default('all').describe('`any`: one of the words is enough'),
  searchFields: freeText.describe("the search index's fields to search, separated by commas; all by default"),
  facets: freeText.describe("fields, separated by commas, whose values are counted in a search's matches"),
  highlight: freeText.describe("the search index's fields, separated by commas, in which found words are marked"),
  nearVector: freeText.describe('a JSON array with numbers; the answer has the records with the most similar vectors'),
  nearVectorField: freeText.describe('the vector field to compare with'),
  nearLimit: boundedNumber({ min: 1, max: 1000, otherwise: 10 }).describe('the most records to return'),
  nearMinScore: decimal.describe('the lowest score to return'),
  hybrid: share.describe('with search and nearVector, how much the vectors count: 0 the text only, 1 the vectors only'),
});
