/** Cursors by topic. */
export type Cursors = ReadonlyMap<string, string>;

/** Where a stream was over time, so that a client whose connection broke unnoticed continues early enough. */
export interface CursorHistory {
  /** Notes where the stream is, under this version of the schema. */
  mark(cursors: Cursors, version: number): void;
  /**
   * Where the stream was `keptMs` ago, for the topics that it has now; at its beginning if it is younger. Undefined if
   * the schema has just changed: what came under other rules is never sent again.
   */
  settled(cursors: Cursors, version: number, keptMs: number): Cursors | undefined;
  /** Where the stream is now; undefined as above. */
  exact(cursors: Cursors, version: number): Cursors | undefined;
}

interface Mark {
  readonly atMs: number;
  cursors: Cursors;
}

/** Marks are at least this far apart, in milliseconds. */
const leastBetweenMs = 5000;

/** Creates a history; `nowMs` is a clock that never goes back. */
export function createCursorHistory(nowMs: () => number = () => performance.now()): CursorHistory {
  let marks: Mark[] = [];
  let known: number | undefined;

  /** A change of the schema may still be ahead of what the stream has sent, so the next mark is the first one. */
  function isOf(version: number): boolean {
    const isFirst = known === undefined;
    if (known === version) return true;
    known = version;
    marks = [];
    return isFirst;
  }

  return {
    mark(cursors, version) {
      if (!isOf(version)) return;
      const last = marks.at(-1);
      if (!last || nowMs() - last.atMs >= leastBetweenMs) marks.push({ atMs: nowMs(), cursors });
      else last.cursors = new Map([...cursors, ...last.cursors]);
    },
    settled(cursors, version, keptMs) {
      if (!isOf(version) || marks.length === 0) return undefined;
      const oldest = marks.findLastIndex(({ atMs }) => nowMs() - atMs >= keptMs);
      if (oldest > 0) marks = marks.slice(oldest);
      return new Map(
        [...cursors].map(([topic, cursor]) => [
          topic,
          marks.find((mark) => mark.cursors.has(topic))?.cursors.get(topic) ?? cursor,
        ]),
      );
    },
    exact: (cursors, version) => (isOf(version) && marks.length > 0 ? cursors : undefined),
  };
}
