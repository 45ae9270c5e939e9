import assert from 'node:assert/strict';
import { test } from 'node:test';
import { programName } from '../src/ui/program-name.ts';

const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

test('a browser is named with its system, and any other program as it says it', () => {
  const names = [
    [chrome, 'Chrome on Linux'],
    [`${chrome} Edg/140.0`, 'Edge on Linux'],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML) Version/18.0 Safari/604.1',
      'Safari on iOS',
    ],
    ['Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Windows'],
    ['curl/8.5 Chrome/1', 'curl/8.5 Chrome/1'],
    ['Mozilla/5.0 (something else)', 'Mozilla/5.0 (something else)'],
    ['', 'Unknown client'],
    [null, 'Unknown client'],
  ] as const;
  for (const [agent, name] of names) assert.equal(programName(agent), name);
  assert.equal(programName('x'.repeat(5000)).length, 300);
});
