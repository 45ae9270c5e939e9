import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';

/** As many columns as a list can name. */
const maxColumns = 500;

const values = {
  name: boundedText(100).trim().min(1, 'must not be empty'),
  filter: boundedText(10_000).describe('what the list is narrowed to: an expression or words'),
  sort: boundedText(1000).describe("as a list's `sort`; empty for the usual order"),
  columns: z
    .array(boundedText(255), 'must be a list')
    .max(maxColumns, `must have at most ${maxColumns} entries`)
    .describe('the shown fields; empty for the usual ones'),
  shared: z.boolean('must be true or false').describe('whether all admins have it, or only its owner'),
};

/** A create's body (admins §9.1). */
export const newSavedView = z.strictObject({
  collection: boundedText(255),
  name: values.name,
  filter: values.filter.default(''),
  sort: values.sort.default(''),
  columns: values.columns.default([]),
  shared: values.shared.default(false),
});

/** A PATCH's body: any of the same members but the collection. */
export const savedViewChange = z.strictObject(values).partial();

/** A saved view as answers show it. */
export const savedViewJson = z
  .object({
    id: z.string(),
    collection: z.string(),
    ...values,
    created_at: z.int().describe('unix seconds'),
    updated_at: z.int().describe('unix seconds'),
  })
  .meta({ id: 'SavedView' });

export type NewSavedView = z.output<typeof newSavedView>;
export type SavedViewChange = z.output<typeof savedViewChange>;
export type SavedViewJson = z.output<typeof savedViewJson>;
