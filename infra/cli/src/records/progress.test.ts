import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createProgress } from './progress.ts';

function outputOf(isTTY: boolean) {
  const written: string[] = [];
  let atMs = 0;
  const progress = createProgress({
    output: { isTTY, write: (text: string | Uint8Array) => Boolean(written.push(String(text))) },
    nowMs: () => atMs,
  });
  const wait = (ms: number): void => {
    atMs += ms;
  };
  return { progress, written, wait };
}

describe("a command's progress", () => {
  it('is a bar on a terminal, which is removed at the end', () => {
    const { progress, written, wait } = outputOf(true);
    progress.show('none', 0);
    progress.show('too soon', 0.1);
    wait(100);
    progress.show('half', 0.5);
    wait(100);
    progress.show('unknown');
    wait(100);
    progress.show('more than all', 1.5);
    progress.end();
    assert.deepEqual(
      written.map((text) => text.slice(5)),
      [
        `[${'-'.repeat(24)}] 0 % none`,
        `[${'#'.repeat(12)}${'-'.repeat(12)}] 50 % half`,
        'unknown',
        `[${'#'.repeat(24)}] 150 % more than all`,
        '',
      ],
    );
    assert.ok(written.every((text) => text.startsWith('\r\x1b[2K')));
  });

  it('is a line every ten seconds elsewhere, first after ten seconds', () => {
    const { progress, written, wait } = outputOf(false);
    progress.show('at once', 0);
    wait(10_000);
    progress.show('first', 0.25);
    wait(9_999);
    progress.show('too soon', 0.5);
    progress.end();
    assert.deepEqual(written, ['25 % first\n']);
  });
});
