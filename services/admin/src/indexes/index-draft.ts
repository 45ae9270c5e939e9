import { boundedList } from '@recordbus/http/bounded-list';
import type { CollectionIndex } from '@recordbus/schema';
import { z } from 'zod';

/** An index as an admin sends it (collections §10.2). */
export const newIndex = z.strictObject({
  name: z.string('must be a string'),
  columns: boundedList(z.string('must be a string'), 100, 'must be a list of columns'),
  unique: z.boolean('must be true or false').default(false),
  type: z.enum(['btree', 'trigram'], 'must be btree or trigram').default('btree'),
});

export type NewIndex = z.output<typeof newIndex>;

/** An index as the API shows it (collections §10.1). */
export const indexJson = z
  .object({
    name: z.string(),
    columns: z.array(z.string()),
    unique: z.boolean(),
    type: z.enum(['btree', 'trigram']),
    system: z.boolean().describe('created by the product; cannot be dropped'),
  })
  .meta({ id: 'IndexDefinition' });

export type ShownIndex = z.output<typeof indexJson>;

/** The index members that a snapshot holds. */
export type IndexDefinition = Pick<CollectionIndex, 'name' | 'columns' | 'unique' | 'type'>;
