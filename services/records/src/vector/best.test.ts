import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { byScore, createBest, type Scored, scoreDoubt } from './best.ts';

const bestOf = (scores: readonly number[], limit: number, minScore = Number.NEGATIVE_INFINITY): string[] => {
  const best = createBest(limit, minScore);
  for (const [index, score] of scores.entries()) best.add(String(index), score);
  return [...best.all()].sort(byScore).map(({ id }) => id);
};

describe('the best', () => {
  it('are those of the highest scores, ties by id', () => {
    assert.deepEqual(bestOf([0.1, 0.9, -0.5, 0.7], 2), ['1', '3']);
    const tied: Scored[] = [
      { id: 'b', score: 1 },
      { id: 'a', score: 1 },
    ];
    assert.deepEqual(
      tied.sort(byScore).map(({ id }) => id),
      ['a', 'b'],
    );
  });

  it('come with those that can not be told from the last', () => {
    assert.deepEqual(bestOf([0.5, 0.5 - scoreDoubt, 0.4, 0.9], 2), ['3', '0', '1']);
  });

  it('are the same however many are added', () => {
    const scores = Array.from({ length: 20_000 }, (_, index) => ((index * 7919) % 20_011) / 20_011);
    const expected = scores
      .map((score, index) => ({ id: String(index), score }))
      .sort(byScore)
      .slice(0, 5);
    assert.deepEqual(
      bestOf(scores, 5),
      expected.map(({ id }) => id),
    );
  });

  it('leave out what is below the least score and what has none', () => {
    assert.deepEqual(bestOf([0.1, Number.NaN, 0.5, 0.5 - scoreDoubt / 2], 10, 0.5), ['2', '3']);
  });
});
