import type { JudgedChange } from './judge-changes.ts';

/** Records whose later state was told with an earlier change, at most; beyond that, a state may be told twice. */
const mostRecords = 10_000;

/**
 * Remembers which records were told in a later state than that of their change, because the stored record was read. The
 * changes up to that state would tell it again, or an older one after it.
 */
export class LaterStates {
  readonly #told = new Map<string, string>();

  /** Whether the members know all that a change would tell them. */
  isTold({ change, version, verdict }: JudgedChange): boolean {
    const told = this.#told.get(change.recordId);
    if (told === undefined) return false;
    if (isLater(verdict.version, told)) return false;
    if (!isLater(told, version)) this.#told.delete(change.recordId);
    return true;
  }

  /** Notes a change that was told. */
  note({ change, version, verdict }: JudgedChange): void {
    if (!isLater(verdict.version, version)) this.#told.delete(change.recordId);
    else {
      if (this.#told.size >= mostRecords) this.#told.clear();
      this.#told.set(change.recordId, verdict.version);
    }
  }

  /** Forgets everything, for a member who was told nothing of it. */
  clear(): void {
    this.#told.clear();
  }
}

/** Whether a version follows another: by its second, then by its number within the second (events §2.5). */
function isLater(version: string, than: string): boolean {
  const [atSec = 0, revision = 0] = version.split('.').map(Number);
  const [thanSec = 0, thanRevision = 0] = than.split('.').map(Number);
  return atSec > thanSec || (atSec === thanSec && revision > thanRevision);
}
