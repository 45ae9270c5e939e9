import { createParameters } from '@recordbus/query';
import { knownWordsTableOf } from '@recordbus/schema';
import { readCondition } from '../shape/conditions.ts';
import { compileMatch, matchesFrom } from './match-sql.ts';
import type { ParsedSearch, SearchTerm } from './parse-search.ts';
import { typoDistance } from './typo-distance.ts';
import { countSql, type TypoPlace } from './typo-place.ts';

/** A word that may be a typo. */
export interface Suspect {
  readonly term: SearchTerm;
  readonly letters: readonly string[];
  /** How far a correction may be from it. */
  readonly most: number;
}

/** A known word that a typo may mean. */
export interface NearWord {
  readonly word: string;
  readonly distance: number;
}

/** How many words one answer has that may be near: comparing them takes some milliseconds. */
const wordsAtOnce = 5000;

/**
 * Finds the known words near each suspect that no visible record has, the nearest first. Hidden records' words are among them.
 * No number of words leaves one out: that would tell of the hidden ones.
 */
export async function findNearWords(place: TypoPlace, suspects: readonly Suspect[]): Promise<NearWord[][]> {
  const { query, collection, search, filter, ruleContext } = place;
  const parameters = createParameters();
  const condition = readCondition(collection, filter, { row: 't', parameters }, ruleContext);
  const lists = suspects.map((suspect, at) => {
    const match = compileMatch(collection, { ...search, parsed: searchFor(suspect.term) }, parameters);
    const visible = countSql(matchesFrom(collection, search, match, condition));
    return `select ${at} as suspect, case when ${visible} > 0 then '{}'
      else (select array_agg(n.word) from (${nearSql(place, suspect, parameters)} limit ${wordsAtOnce + 1}) n) end as words`;
  });
  const found = await query<{ suspect: number; words: readonly string[] | null }>({
    text: lists.join(' union all '),
    values: parameters.values(ruleContext.request),
    onPrimary: parameters.readsAccount,
  });
  const near: NearWord[][] = suspects.map(() => []);
  for (const { suspect: at, words } of found) {
    const suspect = suspects[at];
    if (!suspect) throw new Error('the answer names a word that the search lacks');
    const all = (words ?? []).length > wordsAtOnce ? readInTurn(place, suspect) : [words ?? []];
    const compared: NearWord[] = [];
    for await (const some of all) compared.push(...compare(suspect, some));
    near[at] = compared.sort((a, b) => a.distance - b.distance || (a.word < b.word ? -1 : 1));
  }
  return near;
}

const compare = ({ letters, most }: Suspect, words: readonly string[]): NearWord[] =>
  words
    .map((word) => ({ word, distance: typoDistance(letters, [...word], most) }))
    .filter(({ distance }) => distance <= most);

/** Reads the words that may be near in their order. There are that many only where texts are made for it. */
async function* readInTurn({ query, ...place }: TypoPlace, suspect: Suspect): AsyncGenerator<readonly string[]> {
  let last = '';
  for (;;) {
    const parameters = createParameters();
    const near = nearSql({ ...place, query }, suspect, parameters);
    const text = `${near} and k.word > ${parameters.fixed(last, 'text')} order by k.word limit ${wordsAtOnce}`;
    const rows = await query<{ word: string }>({ text, values: parameters.values(place.ruleContext.request) });
    yield rows.map(({ word }) => word);
    if (rows.length < wordsAtOnce) return;
    last = rows.at(-1)?.word ?? '';
  }
}

/** Holds for every word that is near enough, and for few others: it may lack few of the letters, and have few others. */
function nearSql(
  { collection, search }: TypoPlace,
  { letters, most }: Suspect,
  parameters: Pick<ReturnType<typeof createParameters>, 'fixed'>,
): string {
  const mask = parameters.fixed(String(lettersOf(letters)), 'bigint');
  return `select k.word from ${knownWordsTableOf(collection, search.index)} k
    where length(k.word) between ${letters.length - most} and ${letters.length + most}
    and bit_count((k.letters & ~${mask})::bit(64)) <= ${most} and bit_count((${mask} & ~k.letters)::bit(64)) <= ${most}`;
}

/** A bit for each letter, like the column `letters` of known words. */
const lettersOf = (letters: readonly string[]): bigint =>
  letters.reduce((mask, letter) => mask | (1n << BigInt((letter.codePointAt(0) ?? 0) % 63)), 0n);

/** A search for one word. */
export const searchFor = (term: SearchTerm): ParsedSearch => ({ wanted: [[term]], unwanted: [], words: 1 });
