import { takeAdmin } from '@recordbus/admin';
import { moveIn, summaryOf } from '@recordbus/pocketbase-move';
import { noProgress } from '@recordbus/stack-calls';
import { cliActor } from '../cli-actor.ts';
import { exitCodes } from '../exit-codes.ts';
import { createProgress } from '../records/progress.ts';
import type { CommandParts } from '../run-command.ts';
import { presentPlan } from '../schema/present-plan.ts';
import type { Plan } from '../schema/schema-target.ts';
import { findMoveTarget } from './move-target.ts';
import type { ImportOptions } from './options.ts';
import { readMap } from './read-map.ts';
import { writeReport } from './write-report.ts';

/** The exit code of a dry run that found something to do, as for a schema's plan. */
const somethingToDo = 2;

/** The exit code when records were refused, as for an import. */
const someRefused = 3;

/** Runs `import pocketbase`. */
export async function importPocketBase(
  parts: CommandParts,
  directory: string,
  {
    json = false,
    report: file,
    map,
    only,
    state,
    resume,
    dryRun,
    files,
    encryptionEnv: variable,
    views,
    sessions,
    superusers,
    events,
    ...target
  }: ImportOptions,
): Promise<number> {
  const { lifecycle, terminal } = parts;
  const names = map === undefined ? {} : await readMap(map);
  const key = process.env[variable];
  const { address, deployment } = await findMoveTarget(parts, target);
  const { report, hasWork } = await moveIn(
    {
      lifecycle,
      terminal,
      addAdmin:
        deployment && ((admin) => takeAdmin(deployment.database, admin, Math.floor(Date.now() / 1000), cliActor)),
      progress: json ? noProgress : createProgress({ output: process.stderr }),
      showPlan: (plan) => {
        if (!json) terminal.note(presentPlan(plan as Plan, { target: address.url, file: undefined }));
      },
    },
    {
      directory,
      address,
      map: names,
      only,
      state,
      resume,
      dryRun,
      encryption: key ? { variable, key } : undefined,
      files,
      views,
      sessions,
      superusers,
      events,
    },
  );
  if (file !== undefined) await writeReport(file, report);
  terminal.report(report, summaryOf(report));
  if (dryRun) return hasWork ? somethingToDo : exitCodes.done;
  return report.collections.some(({ refused }) => refused > 0) ? someRefused : exitCodes.done;
}
