import { boundedList } from '@recordbus/http/bounded-list';
import { mapOf } from '@recordbus/http/map-of';
import { searchWeights } from '@recordbus/schema';
import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';

const text = z.string('must be a string');
const types = ['btree', 'trigram', 'search'] as const;

const searchedField = z.strictObject({
  field: text.describe("the field's name, or a path into a JSON field"),
  weight: z.enum(searchWeights, 'must be A, B, C or D').default('D'),
});

const language = z.union(
  [boundedText(30), z.strictObject({ field: text })],
  'must be a language, or an object with the field that holds it',
);

const synonyms = mapOf(boundedList(boundedText(100), 20, 'must be a list of words'), 'must be an object with lists');

/** What only a search index has (search §1). */
const searchMembers = {
  fields: boundedList(searchedField, 100, 'must be a list of fields').optional(),
  language: language.optional(),
  prefix: z.boolean('must be true or false').optional(),
  typos: z.boolean('must be true or false').optional(),
  synonyms: synonyms.optional(),
};

/** An index as an admin sends it (collections §10.2). */
export const newIndex = z.strictObject({
  name: text,
  columns: boundedList(text, 100, 'must be a list of columns').optional(),
  unique: z.boolean('must be true or false').default(false),
  type: z.enum(types, 'must be btree, trigram or search').default('btree'),
  ...searchMembers,
});

export type NewIndex = z.output<typeof newIndex>;

/** A change to a search index (search §1.7). */
export const indexChange = z.strictObject(searchMembers);

export type IndexChange = z.output<typeof indexChange>;

/** An index as the API shows it (collections §10.1). */
export const indexJson = z
  .object({
    name: z.string(),
    columns: z.array(z.string()),
    unique: z.boolean(),
    type: z.enum(types),
    fields: z
      .array(z.object({ field: z.string(), weight: z.enum(searchWeights) }))
      .optional()
      .describe('search indexes only, like the members that follow'),
    language: z.union([z.string(), z.object({ field: z.string() })]).optional(),
    prefix: z.boolean().optional(),
    typos: z.boolean().optional(),
    synonyms: z.record(z.string(), z.array(z.string())).optional(),
    state: z.enum(['building', 'ready']).optional(),
    system: z.boolean().describe('created by the product; cannot be dropped'),
  })
  .meta({ id: 'IndexDefinition' });

export type ShownIndex = z.output<typeof indexJson>;

/** The index members that a snapshot holds. */
export type IndexDefinition = Omit<ShownIndex, 'columns' | 'state' | 'system'> & Partial<Pick<ShownIndex, 'columns'>>;
