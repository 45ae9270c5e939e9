import { readdirSync, readFileSync } from 'node:fs';
import type { TestEvent } from 'node:test/reporters';

/** Clock ticks per second in `/proc`. Linux gives programs this unit on every machine. */
const ticksPerSecond = 100;
const shownFiles = 40;

/**
 * A node:test reporter that lists the files that take the most processor time, with what they cost their stacks,
 * PostgreSQL and NATS. Files must run one after the other, and Linux must count (`/proc`).
 */
// biome-ignore lint/style/noDefaultExport: node:test uses the default export of a reporter.
export default async function* processorTime(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files: { readonly file: string; readonly seconds: number }[] = [];
  const atStart = secondsOfThisTree();
  let before = atStart;
  for await (const { type, data } of events) {
    // The last summary has no file: it sums up the run.
    if (type !== 'test:summary' || data.file === undefined) continue;
    const now = secondsOfThisTree();
    files.push({ file: data.file.replace(`${process.cwd()}/`, ''), seconds: now - before });
    before = now;
  }
  const sorted = files.sort((a, b) => b.seconds - a.seconds);
  const total = secondsOfThisTree() - atStart;
  yield `\nProcessor time: ${(total / 60).toFixed(1)} minutes for ${files.length} files. The most expensive:\n`;
  for (const { file, seconds } of sorted.slice(0, shownFiles)) yield `${seconds.toFixed(1).padStart(7)} s  ${file}\n`;
}

/** Counts this process and all its descendants, ended ones included. */
function secondsOfThisTree(): number {
  const processes = new Map(
    readdirSync('/proc')
      .filter(isId)
      .map(readStat)
      .flatMap((stat) => (stat ? [stat] : [])),
  );
  const isOurs = (id: string): boolean => {
    const parent = processes.get(id)?.parent;
    return id === String(process.pid) || (parent !== undefined && isOurs(parent));
  };
  const ticks = [...processes].filter(([id]) => isOurs(id)).map(([, stat]) => stat.ticks);
  return ticks.reduce((sum, more) => sum + more, 0) / ticksPerSecond;
}

const isId = (name: string): boolean => /^\d+$/.test(name);

/** Reads a process's parent, and its ticks with those that ended children took; undefined when it has just ended. */
function readStat(id: string): [string, { readonly parent: string; readonly ticks: number }] | undefined {
  try {
    const text = readFileSync(`/proc/${id}/stat`, 'utf8');
    // The name in brackets may contain spaces. The state and the parent follow it; the times are fields 14 to 17.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return [id, { parent: fields[1] ?? '', ticks }];
  } catch {
    return undefined;
  }
}
