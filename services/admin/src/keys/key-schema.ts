import { parseCidrList, validateCidrList } from '@recordbus/egress/cidr';
import { readScope } from '@recordbus/request/key-rights';
import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';

/** How many scopes and how many networks a key may have. Requests are checked against each. */
const maxScopes = 100;
const maxNetworks = 50;

/** The end of the year 9999. */
const maxTimeSec = 253_402_300_799;

const scope = boundedText(200).refine((text) => readScope(text) !== undefined, {
  error: 'must be a scope: records:<collection or *>:read, :write or :delete, rules:<collection or *>, or a fixed one',
});

const network = boundedText(50).refine((text) => !text.includes(',') && text !== '' && !validateCidrList(text), {
  error: 'must be an address or a CIDR range',
});

const unique = <T extends z.ZodType<string>>(item: T, most: number) =>
  z
    .array(item, 'must be a list')
    .max(most, `must have at most ${most} entries`)
    .transform((values) => [...new Set(values)]);

const fields = {
  name: boundedText(255).trim().min(1, 'must not be empty'),
  scopes: unique(scope, maxScopes).refine((scopes) => scopes.length > 0, 'must not be empty'),
  expires_at: z
    .int('must be unix seconds')
    .max(maxTimeSec, 'must be unix seconds')
    .nullable()
    .describe('when the key ends, in unix seconds; null for never'),
  allowed_cidrs: unique(network, maxNetworks).describe('the networks that may use the key; empty for any'),
  rate_label: boundedText(64)
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must have 1 to 64 letters, digits, _ and -')
    .nullable()
    .describe("the key's label in rate rules"),
  rate_limited: z
    .boolean('must be true or false')
    .describe("whether rate limits count the key's requests; if not, the key ends within a day"),
};

/** Members set by the server; ignored, so that a key that was read can be sent back. */
const readOnly = Object.fromEntries(
  ['id', 'prefix', 'created_at', 'updated_at', 'last_used_at', 'last_used_ip', 'created_by'].map((name) => [
    name,
    z.unknown().optional(),
  ]),
);

/** A create's body (keys §1.1). */
export const newKey = z.strictObject({
  ...readOnly,
  ...fields,
  expires_at: fields.expires_at.default(null),
  allowed_cidrs: fields.allowed_cidrs.default([]),
  rate_label: fields.rate_label.default(null),
  rate_limited: fields.rate_limited.default(true),
});

/** A PATCH's body: any of the same members. */
export const keyChange = z.strictObject({ ...readOnly, ...fields }).partial();

/** A key as answers show it, without its secret. */
export const keyJson = z
  .object({
    id: z.string(),
    name: z.string(),
    prefix: z.string().describe("the key's first characters"),
    scopes: z.array(z.string()),
    expires_at: z.int().nullable(),
    allowed_cidrs: z.array(z.string()),
    rate_label: z.string().nullable(),
    rate_limited: z.boolean(),
    created_by: z.object({ type: z.string(), id: z.string().nullable() }),
    created_at: z.int().describe('unix seconds'),
    updated_at: z.int().describe('unix seconds'),
    last_used_at: z.int().nullable().describe('unix seconds; up to a minute late'),
    last_used_ip: z.string().nullable(),
  })
  .meta({ id: 'ServiceKey' });

/** A new key with its text, which no other answer has. */
export const madeKeyJson = keyJson
  .extend({ key: z.string().describe('the key itself, shown only here') })
  .meta({ id: 'MadeServiceKey' });

export type NewKey = Pick<z.output<typeof newKey>, KeyMember>;
export type KeyChange = Partial<NewKey>;
export type KeyJson = z.output<typeof keyJson>;
type KeyMember = 'name' | 'scopes' | 'expires_at' | 'allowed_cidrs' | 'rate_label' | 'rate_limited';

/** The ranges in a list of networks. */
export const rangesOf = (networks: readonly string[]) => parseCidrList(networks.join(','));
