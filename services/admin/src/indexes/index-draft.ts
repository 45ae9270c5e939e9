import type { CollectionIndex } from '@recordbus/schema';
import { z } from 'zod';

/** An index as an admin sends it (interface §4.2). */
export const newIndex = z.strictObject({
  name: z.string('must be a string'),
  columns: z.array(z.string('must be a string'), 'must be a list of columns'),
  unique: z.boolean('must be true or false').default(false),
  type: z.enum(['btree', 'trigram'], 'must be btree or trigram').default('btree'),
});

export type NewIndex = z.output<typeof newIndex>;

/** An index as it is shown (contract §7). */
export const indexJson = z.object({
  name: z.string(),
  columns: z.array(z.string()),
  unique: z.boolean(),
  type: z.enum(['btree', 'trigram']),
  system: z.boolean().describe('made by the product for itself: it stays'),
});

export type ShownIndex = z.output<typeof indexJson>;

/** What of an index matters to whoever makes it again elsewhere. */
export type IndexDefinition = Pick<CollectionIndex, 'name' | 'columns' | 'unique' | 'type'>;
