import type { CronDescription, ExtensionHost, LoadedExtension } from '@recordbus/extension-host';
import { acceptTraceparent } from '@recordbus/process/telemetry';
import type { CronRun } from '../../crons/cron-runs.ts';
import { runBegun, type CronDeps as ScheduleDeps, type ScheduledAt } from '../../crons/run-begun.ts';
import { principalOfExtension, rootScope } from '../call-scope.ts';
import type { WithTransactions } from '../call-transactions.ts';
import { errorTextOf } from '../error-text.ts';

/** A loaded extension's cron. */
export interface DeclaredCron extends CronDescription, ScheduledAt {
  /** `<extension>.<name>`, its name outside the extension. */
  readonly fullName: string;
  readonly extension: string;
}

export interface CronDeps extends ScheduleDeps {
  readonly host: Pick<ExtensionHost, 'call'>;
  readonly withTransactions: WithTransactions;
}

/** Returns an extension's crons. */
export const cronsOf = ({ name, description }: LoadedExtension): readonly DeclaredCron[] =>
  description.crons.map((cron) => ({ ...cron, extension: name, fullName: `${name}.${cron.name}` }));

/** Runs a cron whose run has begun, and records how it ends. Never throws. */
export const runCron = (deps: CronDeps, cron: DeclaredCron, run: CronRun): Promise<void> =>
  runBegun(deps, run, { work: () => callCron(deps, cron, run), textOf: errorTextOf });

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
