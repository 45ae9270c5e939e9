import type { Change, Lock } from '@recordbus/admin';
import { type ApiAddress, CommandFailure, callApi } from '@recordbus/stack-calls';
import type { TargetOptions } from '../api/target-options.ts';
import { cliActor } from '../cli-actor.ts';
import type { CommandParts } from '../run-command.ts';

/** Schema files as one document (schema §2.1). */
export interface SchemaDocument {
  readonly version: 1;
  readonly collections: readonly Members[];
  readonly webhooks?: readonly Members[];
  readonly settings?: Members;
  readonly migrations: readonly { readonly name: string; readonly sql: string }[];
}

export type Members = Readonly<Record<string, unknown>>;

export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A plan as the stack answers it (schema §3.3). */
export interface Plan {
  readonly hash: string;
  readonly changes: readonly Change[];
  readonly drops: readonly string[];
  readonly locks: readonly Lock[];
  readonly warnings: readonly string[];
}

interface PlanBody {
  readonly schema: SchemaDocument;
  readonly variables: Readonly<Record<string, string>>;
}

interface ApplyBody extends PlanBody {
  readonly hash: string;
  readonly allow_drop: readonly string[];
}

/** A stack whose schema a command reads or changes. */
export interface SchemaTarget {
  /** Its name in messages. */
  readonly name: string;
  read(): Promise<SchemaDocument>;
  plan(body: PlanBody): Promise<Plan>;
  apply(body: ApplyBody): Promise<Pick<Plan, 'hash' | 'changes'>>;
}

/** Opens the stack at `--url`, or else the database. */
export async function openTarget(parts: CommandParts, { url, key }: TargetOptions): Promise<SchemaTarget> {
  if (url !== undefined) return targetAt({ url, key: key ?? parts.config.serviceKey });
  if (key !== undefined) throw new CommandFailure('--key needs --url: the database is used without a key.');
  // The services' code, which `--url` does not need.
  const [{ openDeployment }, { applySchemaFiles, planSchemaFiles, readSchemaFiles }] = await Promise.all([
    import('../deployment/open-deployment.ts'),
    import('@recordbus/admin'),
  ]);
  // Applies take turns in the database, so that the later one detects that the schema has changed.
  const deployment = await openDeployment(parts, { isAlone: false });
  const nowSec = () => Math.floor(Date.now() / 1000);
  return {
    name: 'the database',
    read: async () => asAnswered<SchemaDocument>(await readSchemaFiles(deployment)),
    plan: async (body) => asAnswered<Plan>(await planSchemaFiles(deployment, body, nowSec())),
    apply: async (body) => asAnswered<Plan>(await applySchemaFiles(deployment, body, nowSec(), cliActor)),
  };
}

/** Members that are undefined are absent in answers. */
const asAnswered = <T>(value: unknown): T => JSON.parse(JSON.stringify(value)) as T;

const path = '/api/v1/admin/schema';

function targetAt(address: ApiAddress): SchemaTarget {
  return {
    name: address.url,
    read: async () => (await callApi(address, 'GET', path)) as SchemaDocument,
    plan: async (body) => (await callApi(address, 'POST', `${path}/plan`, body)) as Plan,
    apply: async (body) => (await callApi(address, 'POST', `${path}/apply`, body)) as Plan,
  };
}
