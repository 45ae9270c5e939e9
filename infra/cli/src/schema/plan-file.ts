import { readFile } from 'node:fs/promises';
import { CommandFailure } from '@recordbus/stack-calls';
import { z } from 'zod';
import { writeFileAtomically } from '../write-file-atomically.ts';
import type { Plan, SchemaDocument } from './schema-target.ts';

/** A plan file: the schema to apply, and the hash for the schema that it was compared with. It has no secrets. */
export interface PlanFile extends Plan {
  readonly version: 1;
  readonly schema: SchemaDocument;
}

const members = z.record(z.string(), z.unknown());
const shape = z.object({
  version: z.literal(1),
  hash: z.string(),
  schema: z.object({
    version: z.literal(1),
    collections: z.array(members),
    webhooks: z.array(members).optional(),
    settings: members.optional(),
    migrations: z.array(z.object({ name: z.string(), sql: z.string() })),
  }),
});

/** Writes a plan. */
export const writePlan = (file: string, plan: PlanFile): Promise<void> =>
  writeFileAtomically(file, `${JSON.stringify(plan, undefined, 2)}\n`);

/** Reads a plan's members that an apply needs. Throws CommandFailure for any other file. */
export async function readPlan(file: string): Promise<Pick<PlanFile, 'hash' | 'schema'>> {
  try {
    const { hash, schema } = shape.parse(JSON.parse(await readFile(file, 'utf8')));
    const { webhooks, settings, ...rest } = schema;
    return { hash, schema: { ...rest, ...(webhooks && { webhooks }), ...(settings && { settings }) } };
  } catch (error) {
    const reason = error instanceof z.ZodError ? 'it is not a plan from this version' : String(error);
    throw new CommandFailure(`${file} cannot be read as a plan: ${reason}. Run schema plan first.`);
  }
}
