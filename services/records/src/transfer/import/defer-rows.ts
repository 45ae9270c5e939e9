import { findWaitingIds } from '../../jobs/job-rows.ts';
import type { WriteUnit } from '../../write/write-unit.ts';
import { isPlaced } from './import-options.ts';
import { type ImportContext, noTarget, noTargetAfterAll, type Outcomes, refused } from './import-row.ts';
import { findMissingTargets, type MissingTargets, type Referrer } from './missing-targets.ts';

/** A row's record to write. */
interface Written extends Referrer {
  readonly row: number;
  /** Whether an earlier pass wrote the record, without these values. */
  readonly isWritten?: boolean;
}

/**
 * Decides about the rows whose targets are missing (import §6): they wait for the next pass, are refused, or are written
 * without these fields. Returns the records to write now, and the fields that each must leave out.
 */
export async function deferRows<R extends Written>(
  unit: WriteUnit,
  context: ImportContext,
  written: readonly R[],
  outcomes: Outcomes,
): Promise<{ readonly now: readonly R[]; readonly lacking: ReadonlyMap<R, MissingTargets> }> {
  const { collection, options, jobId, pass } = context;
  const missing = await findMissingTargets(unit.query, collection, written);
  if (missing.size === 0) return { now: written, lacking: missing };
  // Earlier records were not written, so nothing is known about the targets.
  if (options.isDryRun) return { now: written, lacking: missing };
  const waitingIds =
    pass === 1
      ? undefined
      : await findWaitingIds(
          unit.query,
          jobId,
          [...missing.values()].flatMap(({ ids }) => ids),
        );
  const lacking = new Map<R, MissingTargets>();
  for (const [one, targets] of missing) {
    const { fields, ids } = targets;
    const message = one.isWritten ? noTargetAfterAll : noTarget;
    const details = Object.fromEntries(fields.map(({ name }) => [name, message]));
    const mayCome = isPlaced(options) && one.id !== undefined && (!waitingIds || ids.every((id) => waitingIds.has(id)));
    if (!mayCome) outcomes.set(one.row, refused(details));
    else if (one.isWritten) outcomes.set(one.row, { state: 'incomplete', recordId: one.id ?? '', details });
    else if (pass > 1 && fields.every(({ required }) => !required)) lacking.set(one, targets);
    else outcomes.set(one.row, { state: 'waiting', recordId: one.id ?? '', details });
  }
  return { now: written.filter((one) => !missing.has(one) || lacking.has(one)), lacking };
}
