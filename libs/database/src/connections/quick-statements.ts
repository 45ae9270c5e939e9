import type { Statement } from '../statement.ts';
import { quickBudget } from './connection-budget.ts';

/** Remembers which named statements are quick, from their runs on their own connections. */
export interface QuickStatements {
  /**
   * Whether this run may share a connection. Every few runs it returns false, to see whether the statement is still
   * quick.
   */
  mayShare(statement: Statement): boolean;
  /** Notes how long a run on its own connection took, in milliseconds. */
  noteRun(statement: Statement, tookMs: number): void;
  /** Notes that a run on a shared connection did not end in time. */
  noteTooLong(statement: Statement): void;
}

interface Known {
  isQuick: boolean;
  runsUntilProbe: number;
  bannedUntilMs: number;
}

/** Creates an empty memory, which drops the oldest statements first. */
export function createQuickStatements(nowMs: () => number = () => performance.now()): QuickStatements {
  const { quickMs, slowMs, runsPerProbe, banMs, maxKnown } = quickBudget;
  const statements = new Map<string, Known>();

  function know(name: string): Known {
    let known = statements.get(name);
    if (known) return known;
    known = { isQuick: false, runsUntilProbe: 0, bannedUntilMs: Number.NEGATIVE_INFINITY };
    statements.set(name, known);
    const [oldest] = statements.keys();
    if (statements.size > maxKnown && oldest !== undefined) statements.delete(oldest);
    return known;
  }

  return {
    mayShare({ name }) {
      const known = name === undefined ? undefined : statements.get(name);
      if (!known?.isQuick) return false;
      known.runsUntilProbe -= 1;
      if (known.runsUntilProbe > 0) return true;
      known.runsUntilProbe = runsPerProbe;
      return false;
    },
    noteRun({ name }, tookMs) {
      if (name === undefined) return;
      const known = know(name);
      if (tookMs > slowMs) known.isQuick = false;
      if (tookMs > quickMs || nowMs() < known.bannedUntilMs) return;
      known.isQuick = true;
      known.runsUntilProbe = runsPerProbe;
    },
    noteTooLong({ name }) {
      if (name === undefined) return;
      const known = know(name);
      known.isQuick = false;
      known.bannedUntilMs = nowMs() + banMs;
    },
  };
}
