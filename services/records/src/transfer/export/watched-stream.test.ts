import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { watchedStream } from './watched-stream.ts';

const patient = { stalledMs: 60_000, totalMs: 60_000, isWanted: () => false };

async function* textsOf(count: number, ended: () => void): AsyncGenerator<string, void> {
  try {
    for (let left = count; left > 0; left -= 1) yield 'ü'.repeat(100_000);
  } finally {
    ended();
  }
}

describe("an export's stream", () => {
  it('has the texts in UTF-8', async () => {
    const bytes = Buffer.concat(
      await watchedStream(
        textsOf(3, () => {}),
        patient,
      ).toArray(),
    );
    assert.equal(bytes.toString(), 'ü'.repeat(300_000));
  });

  it('produces no more than its reader takes', async () => {
    let produced = 0;
    async function* counted() {
      for (;;) {
        produced += 1;
        yield 'x'.repeat(100_000);
      }
    }
    const stream = watchedStream(counted(), patient);
    await once(stream, 'readable');
    assert.ok(produced <= 2, `${produced}`);
    stream.destroy();
    await once(stream, 'close');
  });

  it('fails when it is not read, or takes too long, and ends its source', async () => {
    for (const [limits, message] of [
      [{ ...patient, stalledMs: 20 }, /read nothing for 20 ms/],
      [{ ...patient, totalMs: 20 }, /more than 20 ms/],
    ] as const) {
      let isEnded = false;
      const stream = watchedStream(
        textsOf(10, () => {
          isEnded = true;
        }),
        limits,
      );
      await once(stream, 'readable');
      const [error] = await once(stream, 'error');
      assert.match(String(error), message);
      assert.ok(isEnded);
    }
  });

  it('is closed without a reader too', async () => {
    const stream = watchedStream(
      textsOf(1, () => {}),
      patient,
    );
    stream.destroy();
    await once(stream, 'close');
  });
});
