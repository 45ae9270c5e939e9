import type { Progress } from '@recordbus/stack-calls';

interface ProgressOptions {
  readonly output: Pick<NodeJS.WriteStream, 'write'> & { readonly isTTY?: boolean | undefined };
  readonly nowMs?: () => number;
}

const barWidth = 24;
const barEveryMs = 100;
const lineEveryMs = 10_000;

/** Creates a command's progress display: a bar on a terminal, lines elsewhere. */
export function createProgress({ output, nowMs = () => performance.now() }: ProgressOptions): Progress {
  const isTerminal = output.isTTY === true;
  const everyMs = isTerminal ? barEveryMs : lineEveryMs;
  // A quick command writes no lines.
  let nextAtMs = isTerminal ? Number.NEGATIVE_INFINITY : nowMs() + everyMs;
  let isShown = false;
  return {
    show(text, part) {
      if (nowMs() < nextAtMs) return;
      nextAtMs = nowMs() + everyMs;
      output.write(isTerminal ? `\r\x1b[2K${barOf(part)}${text}` : `${percentOf(part)}${text}\n`);
      isShown = isTerminal;
    },
    end() {
      if (isShown) output.write('\r\x1b[2K');
      isShown = false;
    },
  };
}

const percentOf = (part: number | undefined): string => (part === undefined ? '' : `${Math.floor(part * 100)} % `);

function barOf(part: number | undefined): string {
  if (part === undefined) return '';
  const filled = Math.min(Math.floor(part * barWidth), barWidth);
  return `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}] ${percentOf(part)}`;
}
