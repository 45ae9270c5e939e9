import type { JudgedChange } from './judge-changes.ts';

/** The maximum number of remembered records. Beyond that, a state may be sent twice. */
const maxRecords = 10_000;

/**
 * Remembers records that were sent in a later state than that of their change, because the stored record was read. The
 * changes up to that state would send it again, or send an older one after it.
 */
export class LaterStates {
  readonly #versions = new Map<string, string>();

  /** Whether the members were already sent the state after a change, or a later one. */
  wasSent({ change, version, verdict }: JudgedChange): boolean {
    const sent = this.#versions.get(change.recordId);
    if (sent === undefined) return false;
    if (isLater(verdict.version, sent)) return false;
    if (!isLater(sent, version)) this.#versions.delete(change.recordId);
    return true;
  }

  /** Notes a change that was sent. */
  note({ change, version, verdict }: JudgedChange): void {
    if (!isLater(verdict.version, version)) this.#versions.delete(change.recordId);
    else {
      if (this.#versions.size >= maxRecords) this.#versions.clear();
      this.#versions.set(change.recordId, verdict.version);
    }
  }

  /** Forgets everything, for a member who was sent none of it. */
  clear(): void {
    this.#versions.clear();
  }
}

/** Whether a version follows another: by its second, then by its number within the second (events §2.5). */
function isLater(version: string, than: string): boolean {
  const [atSec = 0, revision = 0] = version.split('.').map(Number);
  const [thanSec = 0, thanRevision = 0] = than.split('.').map(Number);
  return atSec > thanSec || (atSec === thanSec && revision > thanRevision);
}
