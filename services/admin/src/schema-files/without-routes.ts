import type { Database } from '@recordbus/database';
import { validationFailed } from '@recordbus/errors';
import { describeIssues } from '@recordbus/errors/describe-issues';
import type { z } from 'zod';
import type { Actor } from '../audit/actor.ts';
import { createSchemaChanges, type SchemaChangesDeps } from '../schema/schema-changes.ts';
import { type AppliedSchema, applySchema } from './apply-schema.ts';
import { readPresentedSchema } from './current-schema.ts';
import { type PresentedPlan, planSchema } from './plan-schema.ts';
import type { PresentedSchema } from './present-files.ts';
import { applyBody, planBody } from './schema-document.ts';

type ReadDeps = Pick<SchemaChangesDeps, 'cipher'> & { readonly database: Pick<Database, 'query'> };

/** Returns the current schema as files, like the route. */
export const readSchemaFiles = ({ database, cipher }: ReadDeps): Promise<PresentedSchema> =>
  readPresentedSchema(database.query, cipher);

/** Plans like the route. Throws its refusals. */
export const planSchemaFiles = (deps: SchemaChangesDeps, body: unknown, nowSec: number): Promise<PresentedPlan> =>
  planSchema(deps, read(planBody, body), nowSec);

/** Applies like the route. Throws its refusals. */
export async function applySchemaFiles(
  deps: SchemaChangesDeps,
  body: unknown,
  nowSec: number,
  actor: Actor,
): Promise<AppliedSchema> {
  const applied = await applySchema(createSchemaChanges(deps), read(applyBody, body), nowSec, actor);
  if (applied.changes.some(({ kind }) => kind === 'webhook')) deps.bus.notify('webhooks');
  return applied;
}

function read<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const result = schema.safeParse(body);
  if (!result.success) throw validationFailed(describeIssues(result.error, body));
  return result.data;
}
