import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { verifications } from '@recordbus/admin-pages/verification';

const guide = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8');

test("the pages' programs that verify deliveries are the guide's, in five languages", () => {
  const fences = { Node: 'js', Python: 'python', Go: 'go', Java: 'java', Shell: 'sh' };
  assert.deepEqual(
    verifications.map(({ language }) => language),
    Object.keys(fences),
  );
  for (const { language, code } of verifications) {
    const fence = fences[language as keyof typeof fences];
    assert.ok(guide.includes(`\`\`\`${fence}\n${code}\`\`\`\n`), language);
  }
});
