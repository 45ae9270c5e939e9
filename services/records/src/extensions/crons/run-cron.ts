import type { Database } from '@recordbus/database';
import type { CronDescription, ExtensionHost, LoadedExtension } from '@recordbus/extension-host';
import type { Logger } from '@recordbus/process/logging';
import { acceptTraceparent } from '@recordbus/process/telemetry';
import { underLease } from '@recordbus/queue';
import { principalOfExtension, rootScope } from '../call-scope.ts';
import type { WithTransactions } from '../call-transactions.ts';
import { errorTextOf } from '../error-text.ts';
import { type CronRun, endRun, renewMs, renewRun } from './cron-runs.ts';

/** A loaded extension's cron. */
export interface DeclaredCron extends CronDescription {
  /** `<extension>.<name>`, its name outside the extension. */
  readonly fullName: string;
  readonly extension: string;
}

export interface CronDeps {
  readonly host: Pick<ExtensionHost, 'call'>;
  readonly withTransactions: WithTransactions;
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Returns an extension's crons. */
export const cronsOf = ({ name, description }: LoadedExtension): readonly DeclaredCron[] =>
  description.crons.map((cron) => ({ ...cron, extension: name, fullName: `${name}.${cron.name}` }));

/** Runs a cron whose run has begun, and records how it ends. Never throws. */
export async function runCron(deps: CronDeps, cron: DeclaredCron, run: CronRun): Promise<void> {
  const { database, log } = deps;
  const facts = { cron: cron.fullName, run: run.id };
  const renew = () => renewRun(database.query, run.id);
  const failure = await underLease({ renewMs, renew }, () => callCron(deps, cron, run)).then(() => null, errorTextOf);
  if (failure !== null) log.warn({ ...facts, reason: failure }, 'a cron failed');
  await endRun(database.query, run.id, failure).catch((error) =>
    log.warn({ ...facts, err: error }, "cannot record a cron run's end"),
  );
}

async function callCron(
  { host, withTransactions, clock }: CronDeps,
  { extension, name, timeoutMs }: DeclaredCron,
  { id, tick, cause }: CronRun,
): Promise<void> {
  const context = {
    requestId: id,
    traceparent: acceptTraceparent(undefined),
    principal: principalOfExtension(extension),
    clientAddress: '',
  };
  const target = { kind: 'cron', name } as const;
  const input = { name, at: tick ?? Math.floor(clock() / 1000), isManual: cause === 'manual' };
  await withTransactions(extension, rootScope(context), (answer) =>
    host.call(extension, { target, input, timeoutMs, answer }),
  );
}
