import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { quickBudget } from './connection-budget.ts';
import { createQuickStatements } from './quick-statements.ts';

const { quickMs, slowMs, runsPerProbe, banMs, maxKnown } = quickBudget;
const named = (name: string) => ({ name, text: 'select', values: [] });

describe('quick statement memory', () => {
  test('recognizes a statement by its name after a quick run', () => {
    const statements = createQuickStatements();
    statements.noteRun(named('a'), quickMs + 0.1);
    statements.noteRun({ text: 'select', values: [] }, 1);
    assert.equal(statements.mayShare(named('a')), false);
    assert.equal(statements.mayShare({ text: 'select', values: [] }), false);
    statements.noteRun(named('a'), quickMs);
    assert.deepEqual([statements.mayShare(named('a')), statements.mayShare(named('b'))], [true, false]);
  });

  test('asks for a run on its own connection from time to time', () => {
    const statements = createQuickStatements();
    statements.noteRun(named('a'), 1);
    const answers = Array.from({ length: 2 * runsPerProbe }, () => statements.mayShare(named('a')));
    assert.equal(answers.filter((mayShare) => !mayShare).length, 2);
  });

  test('forgets a statement after a slow run, and only then', () => {
    const statements = createQuickStatements();
    statements.noteRun(named('a'), 1);
    statements.noteRun(named('a'), slowMs);
    assert.equal(statements.mayShare(named('a')), true);
    statements.noteRun(named('a'), slowMs + 1);
    assert.equal(statements.mayShare(named('a')), false);
    statements.noteRun(named('a'), 1);
    assert.equal(statements.mayShare(named('a')), true);
  });

  test('does not treat a statement that did not end in time as quick for a while', () => {
    let nowMs = 0;
    const statements = createQuickStatements(() => nowMs);
    statements.noteRun(named('a'), 1);
    statements.noteTooLong(named('a'));
    nowMs = banMs - 1;
    statements.noteRun(named('a'), 1);
    assert.equal(statements.mayShare(named('a')), false);
    nowMs = banMs;
    statements.noteRun(named('a'), 1);
    assert.equal(statements.mayShare(named('a')), true);
  });

  test('remembers only so many statements', () => {
    const statements = createQuickStatements();
    for (let n = 0; n <= maxKnown; n += 1) statements.noteRun(named(`s${n}`), 1);
    assert.deepEqual([statements.mayShare(named('s0')), statements.mayShare(named('s1'))], [false, true]);
  });
});
