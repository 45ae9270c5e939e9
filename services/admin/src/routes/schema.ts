import type { Bus } from '@recordbus/bus';
import type { ValueCipher } from '@recordbus/crypto';
import type { Database } from '@recordbus/database';
import { ok, type Route, route } from '@recordbus/http';
import { z } from 'zod';
import { actorOf } from '../audit/actor.ts';
import type { SchemaChanges } from '../schema/schema-changes.ts';
import { applySchema } from '../schema-files/apply-schema.ts';
import { changeJson, lockJson } from '../schema-files/change.ts';
import { readPresentedSchema } from '../schema-files/current-schema.ts';
import { refuseParts, withReadableParts } from '../schema-files/key-parts.ts';
import { planSchema } from '../schema-files/plan-schema.ts';
import { applyBody, planBody } from '../schema-files/schema-document.ts';

interface SchemaRoutesDeps {
  readonly database: Database;
  readonly bus: Pick<Bus, 'notify'>;
  readonly cipher: ValueCipher;
  readonly changes: SchemaChanges;
  readonly nowSec: () => number;
}

const path = '/api/v1/admin/schema';

/** As for snapshots: 500 collections with 50 fields have 3 MiB. */
const bodyLimitBytes = 8 * 1024 * 1024;

const file = z.record(z.string(), z.unknown());
const schemaJson = z
  .object({
    version: z.literal(1),
    collections: z.array(file),
    webhooks: z.array(file).optional(),
    settings: file.optional(),
    migrations: z.array(z.object({ name: z.string(), sql: z.string() })),
  })
  .meta({ id: 'SchemaFiles' });

/** Routes for the schema as files (schema). */
export const schemaRoutes = ({ database, bus, cipher, changes, nowSec }: SchemaRoutesDeps): Route[] => [
  route({
    method: 'GET',
    path,
    access: 'admin',
    scope: 'collections:read',
    summary: 'Get the schema as the files that `cli schema pull` writes, without secrets',
    answers: { 200: schemaJson },
    handler: async ({ context: { principal } }) =>
      ok(withReadableParts(principal, await readPresentedSchema(database.query, cipher))),
  }),
  route({
    method: 'POST',
    path: `${path}/plan`,
    access: 'admin',
    scope: 'collections:apply',
    summary: 'Plan what applying the files would do; changes nothing',
    body: planBody,
    bodyLimitBytes,
    answers: {
      200: z.object({
        hash: z.string().describe("the current schema's hash, for the apply"),
        changes: z.array(changeJson),
        drops: z.array(z.string()).describe('the names to allow in the apply'),
        locks: z.array(lockJson),
        warnings: z.array(z.string()),
      }),
      422: 'The files are wrong, or an apply would refuse them; details name each place.',
    },
    async handler({ body, context: { principal } }) {
      refuseParts(principal, body.schema, 'read');
      return ok(await planSchema({ database, cipher }, body, nowSec()));
    },
  }),
  route({
    method: 'POST',
    path: `${path}/apply`,
    access: 'admin',
    scope: 'collections:apply',
    summary: 'Apply the files to the schema, all or nothing',
    body: applyBody,
    bodyLimitBytes,
    answers: {
      200: z.object({
        hash: z.string().describe("the schema's hash after the apply"),
        changes: z.array(changeJson),
      }),
      409: 'The schema has changed since the plan, or a unique index would cover duplicate values.',
      422: 'The files are wrong, the records do not fit them, or a drop is not allowed; details name each place.',
    },
    async handler(input) {
      refuseParts(input.context.principal, input.body.schema, 'write');
      const applied = await applySchema(changes, input.body, nowSec(), actorOf(input));
      if (applied.changes.some(({ kind }) => kind === 'webhook')) bus.notify('webhooks');
      return ok(applied);
    },
  }),
];
