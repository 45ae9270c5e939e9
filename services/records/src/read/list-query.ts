import { boundedNumber, decimal, flag, freeText, pageQuery } from '@recordbus/http';
import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';
import { maxCursorLength } from './cursor.ts';

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
  nearVector: freeText.describe('a JSON array with numbers; the answer has the records with the most similar vectors'),
  nearVectorField: freeText.describe('the vector field to compare with'),
  nearLimit: boundedNumber({ min: 1, max: 1000, otherwise: 10 }).describe('the most records to return'),
  nearMinScore: decimal.describe('the lowest score to return'),
});
