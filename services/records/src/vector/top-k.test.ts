import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { byScore, createTopK, maxScoreError, type Scored } from './top-k.ts';

const topOf = (scores: readonly number[], limit: number, minScore = Number.NEGATIVE_INFINITY): string[] => {
  const topK = createTopK(limit, minScore);
  for (const [index, score] of scores.entries()) topK.add(String(index), score);
  return [...topK.all()].sort(byScore).map(({ id }) => id);
};

describe('the top k', () => {
  it('have the highest scores, ties by id', () => {
    assert.deepEqual(topOf([0.1, 0.9, -0.5, 0.7], 2), ['1', '3']);
    const tied: Scored[] = [
      { id: 'b', score: 1 },
      { id: 'a', score: 1 },
    ];
    assert.deepEqual(
      tied.sort(byScore).map(({ id }) => id),
      ['a', 'b'],
    );
  });

  it('include candidates whose score is too close to the last one', () => {
    assert.deepEqual(topOf([0.5, 0.5 - maxScoreError, 0.4, 0.9], 2), ['3', '0', '1']);
  });

  it('are the same, however many candidates there are', () => {
    const scores = Array.from({ length: 20_000 }, (_, index) => ((index * 7919) % 20_011) / 20_011);
    const expected = scores
      .map((score, index) => ({ id: String(index), score }))
      .sort(byScore)
      .slice(0, 5);
    assert.deepEqual(
      topOf(scores, 5),
      expected.map(({ id }) => id),
    );
  });

  it('leave out candidates below the minimum score and those without a score', () => {
    assert.deepEqual(topOf([0.1, Number.NaN, 0.5, 0.5 - maxScoreError / 2], 10, 0.5), ['2', '3']);
  });
});
