import type { TestEvent } from 'node:test/reporters';

/** A reporter of node:test that lists the files with failures, one per line. */
// biome-ignore lint/style/noDefaultExport: node:test uses the default export of a reporter.
export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const listed = new Set<string>();
  for await (const { type, data } of events) {
    if (type !== 'test:fail' || data.file === undefined || listed.has(data.file)) continue;
    listed.add(data.file);
    yield `${data.file}\n`;
  }
}
