import { z } from 'zod';

/** A member that changes. */
const memberChange = z.object({ member: z.string(), before: z.unknown(), after: z.unknown() });

/** One change in a plan (schema §3.3). */
export const changeJson = z
  .object({
    action: z.enum(['create', 'rename', 'change', 'drop', 'run']),
    kind: z.enum(['collection', 'field', 'index', 'webhook', 'setting', 'migration']),
    name: z.string().describe('posts, posts.title, webhooks/crm, smtp.host, 0001-fill-slugs'),
    from: z.string().optional().describe('the name before a rename'),
    changed: z.array(memberChange).optional(),
    records: z.int().nullable().optional().describe('records that are lost; null when counting them took too long'),
    values: z.int().nullable().optional().describe('values that are lost; null when counting them took too long'),
  })
  .meta({ id: 'SchemaChange' });

export type Change = z.output<typeof changeJson>;
export type MemberChange = z.output<typeof memberChange>;

/** A lock that an apply takes until it ends. */
export const lockJson = z
  .object({
    collection: z.string(),
    waits: z.enum(['writes', 'reads and writes']).describe('what waits'),
    reasons: z.array(z.string()),
    rewrites: z.boolean().describe('whether every record is written again'),
    records: z.int().nullable().describe('how many records; null when counting them took too long'),
  })
  .meta({ id: 'SchemaLock' });

export type Lock = z.output<typeof lockJson>;

/** The changes that drop something, which an apply has to allow one by one. */
export const dropsOf = (changes: readonly Change[]): string[] =>
  changes
    .filter(({ action, kind }) => action === 'drop' && kind !== 'index')
    .map(({ kind, name }) => (kind === 'webhook' ? `webhooks/${name}` : name));
