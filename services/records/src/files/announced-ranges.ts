import { isConnectionError, isDatabaseError } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { AppError } from '@recordbus/shared/errors';
import type { Announcer } from './announced-files.ts';
import { createOpenRanges, type OpenRange, type OpenRanges, type OpenRangesDeps } from './open-ranges.ts';
import { removeUnused } from './unused-files.ts';

/** The range of one upload. The statement that creates the record keeps its files. */
export interface HeldRange {
  /** The id of its row. */
  readonly id: number;
  /** Notes that the statement has kept the files. */
  noteKept(): void;
}

/**
 * Announces the files of new records. A process inserts one row for all uploads to records of a collection whose ids have
 * the same start, so most uploads need no statement to announce their files. If the process dies, another one finds the
 * row, and removes the files whose records do not exist (`cleanAbandonedRange`).
 */
export interface AnnouncedRanges extends Pick<OpenRanges, 'start' | 'stop'> {
  /** Runs the upload to a new record, and removes its files unless its create has kept them. */
  hold<T>(collection: Collection, recordId: string, work: (announcer: Announcer) => Promise<T>): Promise<T>;
}

/** Creates the announcements of this process. */
export function createAnnouncedRanges(deps: OpenRangesDeps): AnnouncedRanges {
  const ranges = createOpenRanges(deps);
  return {
    async hold(collection, recordId, work) {
      const upload = beginUpload(() => ranges.enter(collection.id, recordId));
      let [isKept, isUncertain] = [false, false];
      try {
        const result = await work(upload.announcer);
        isKept = upload.isKept;
        return result;
      } catch (error) {
        isUncertain = !isRefusal(error);
        throw error;
      } finally {
        if (!isKept && !isUncertain) isUncertain = !(await drop(collection, recordId, upload.names));
        upload.range?.leave(isUncertain);
      }
    },
    start: ranges.start,
    stop: ranges.stop,
  };

  /** Removes files that no create has kept. Returns whether it could. */
  async function drop(collection: Collection, recordId: string, names: readonly string[]): Promise<boolean> {
    if (names.length === 0) return true;
    try {
      await removeUnused(
        deps.query,
        collection,
        names.map((name) => ({ recordId, name })),
      );
    } catch {
      return false;
    }
    deps.removals.wake();
    return true;
  }
}

/** Begins an upload, which enters its range when it announces its first file. */
function beginUpload(enter: () => OpenRange) {
  const names: string[] = [];
  let range: OpenRange | undefined;
  let held: HeldRange | undefined;
  let isKept = false;
  function noteKept(): void {
    isKept = true;
  }
  const announcer: Announcer = {
    announced: [],
    async announce(name) {
      names.push(name);
      range ??= enter();
      held ??= { id: await range.id, noteKept };
    },
    get range() {
      return held;
    },
  };
  return {
    announcer,
    names,
    get range() {
      return range;
    },
    get isKept() {
      return isKept;
    },
  };
}

/** Whether the statements of a request have ended, and were refused. After another error, one may still commit. */
const isRefusal = (error: unknown): boolean =>
  error instanceof AppError ? error.status < 500 : isDatabaseError(error) && !isConnectionError(error);
