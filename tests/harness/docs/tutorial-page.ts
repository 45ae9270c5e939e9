import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../stacks/stack.ts';

/** A block with commands or a file to save, and the JSON in the last line of its output. */
export interface Step {
  readonly commands: string;
  readonly answer: string | undefined;
}

/** The blocks in docs/tutorial.md. */
export interface Tutorial {
  /** The first terminal's commands: they create the clone and start the stack in it. */
  readonly clone: string;
  readonly start: string;
  /** The second terminal's steps, in order. */
  readonly steps: readonly Step[];
  /** How many steps come before the first one that needs Docker. */
  readonly stepsWithoutDocker: number;
}

interface Block {
  readonly kind: string;
  readonly text: string;
  /** Whether it directly follows the block before it. */
  readonly followsDirectly: boolean;
}

/** Reads docs/tutorial.md. */
export const readTutorial = (): Tutorial => parseTutorial(readFileSync(join(repository, 'docs/tutorial.md'), 'utf8'));

/** Reads the tutorial's text. Throws when it has a block that no test would run. */
export function parseTutorial(page: string): Tutorial {
  const [clone, start, ...others] = readBlocks(page);
  assert.deepEqual([clone?.kind, start?.kind], ['sh', 'sh'], 'the page begins with a clone and a start');
  const steps = others.flatMap((block, index) => {
    if (block.kind === 'sh') return [{ commands: block.text, answer: answerIn(others[index + 1]) }];
    if (block.kind === 'ts') return [{ commands: savingOf(block.text, page), answer: undefined }];
    assert.ok(block.followsDirectly && others[index - 1]?.kind === 'sh', `no commands answer ${block.text}`);
    return [];
  });
  const stepsWithoutDocker = steps.findIndex(({ commands }) => /\bdocker\b/.test(commands));
  assert.ok(stepsWithoutDocker > 0, 'the page has no steps with Docker');
  return { clone: clone?.text ?? '', start: start?.text ?? '', steps, stepsWithoutDocker };
}

const answerIn = (next: Block | undefined): string | undefined => (next?.kind === 'json' ? next.text : undefined);

function readBlocks(page: string): readonly Block[] {
  let endOfLast = 0;
  const blocks = [...page.matchAll(/^```(sh|json|ts)\n(.*?)\n```$/gms)].map((found) => {
    const [whole, kind = '', text = ''] = found;
    const followsDirectly = page.slice(endOfLast, found.index).trim() === '';
    endOfLast = found.index + whole.length;
    return { kind, text, followsDirectly };
  });
  const fences = page.match(/^\s*(```|~~~)/gm) ?? [];
  assert.equal(
    fences.length,
    2 * blocks.length,
    'a block is neither commands (sh), nor an answer (json), nor a file (ts)',
  );
  return blocks;
}

/** The file with the first terminal's output. */
export const logName = 'npm-start.log';

/** The commands that save an extension under the name in its first line, and wait for the line in the log. */
function savingOf(source: string, page: string): string {
  const [, path, name] = /^\/\/ (data\/extensions\/(\w+)\.ts)\n/.exec(source) ?? [];
  assert.ok(path, 'the first line of the extension names its file');
  assert.ok(page.includes(`Save this as \`${path}\``));
  const line = `"extensions":["${name}"]`;
  assert.ok(page.includes(`a line with \`${line}\` and \`extensions loaded\``));
  const wait = `until grep -F '${line}' ../${logName} | grep -q 'extensions loaded'; do sleep 0.1; done`;
  return `cat > ${path} <<'END'\n${source}\nEND\n${wait}`;
}
