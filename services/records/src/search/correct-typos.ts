import { createParameters } from '@recordbus/query';
import { type Collection, knownWordsTableOf } from '@recordbus/schema';
import type { RecordReads } from '../read/record-reads.ts';
import type { RuleContext } from '../rules/rule-context.ts';
import { readCondition } from '../shape/conditions.ts';
import { compileMatch, matchesFrom } from './match-sql.ts';
import type { ParsedSearch, SearchTerm } from './parse-search.ts';
import type { Corrections, Search } from './search-request.ts';
import { typoDistance } from './typo-distance.ts';

/** How many words a typo is replaced by. */
const maxCorrections = 3;

/**
 * How many matches of a word are counted, which decides between equally near corrections. To ask only whether there is one
 * would make the planner read every record instead of the index.
 */
const maxCounted = 1000;

/** How many words near a typo are counted, the nearest first. There are more only where texts are made for it. */
const maxCandidates = 300;

/** Only words of letters have typos. Scripts without spaces have none: any letters make a word. */
const wordOfLetters = /^[\p{L}\p{M}]+$/u;
const scriptWithoutSpaces = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** A word that may be a typo. */
interface Suspect {
  readonly term: SearchTerm;
  readonly letters: readonly string[];
  /** How far a correction may be from it. */
  readonly most: number;
}

/** A word that a typo may mean. */
interface Candidate {
  /** The typo's place among the suspects. */
  readonly suspect: number;
  readonly word: string;
  readonly distance: number;
}

/** Whether a search may have typos, after it found something or not. With `all`, each word is found if a record is. */
export function mayHaveTypos({ index, parsed, mode }: Search, found: boolean): boolean {
  if (!index.search.typos) return false;
  const needsEachWord = mode === 'all' && parsed.wanted.every((terms) => terms.length === 1);
  return !(found && needsEachWord) && findSuspects(parsed).length > 0;
}

/**
 * Replaces a search's words that no record has by near ones that some have; undefined if there are none. Only records that
 * list rule and filter admit count (search §2.6).
 */
export async function correctTypos(
  reads: Pick<RecordReads, 'shaped'>,
  collection: Collection,
  search: Search,
  filter: string | undefined,
  ruleContext: RuleContext,
): Promise<Search | undefined> {
  const place: Place = { reads, collection, search, filter, ruleContext };
  const suspects = findSuspects(search.parsed);
  const candidates = await findCandidates(place, suspects);
  if (candidates.length === 0) return undefined;
  const counts = await countVisible(place, candidates);
  const corrections = new Map<SearchTerm, readonly string[]>();
  for (const [at, { term }] of suspects.entries()) {
    const words = candidates
      .map((candidate, index) => ({ ...candidate, visible: counts[index] ?? 0 }))
      .filter(({ suspect, visible }) => suspect === at && visible > 0)
      .sort((a, b) => a.distance - b.distance || b.visible - a.visible || (a.word < b.word ? -1 : 1))
      .slice(0, maxCorrections)
      .map(({ word }) => word);
    if (words.length > 0) corrections.set(term, words);
  }
  return corrections.size > 0 ? withCorrections(search, corrections) : undefined;
}

function findSuspects({ wanted }: ParsedSearch): Suspect[] {
  return wanted.flat().flatMap((term) => {
    if (term.isPhrase || !wordOfLetters.test(term.text) || scriptWithoutSpaces.test(term.text)) return [];
    const letters = [...foldWord(term.text)];
    return letters.length < 4 ? [] : [{ term, letters, most: letters.length < 8 ? 1 : 2 }];
  });
}

/** Folds a word like `system.fold_search_text`, and into lower case. */
const foldWord = (word: string): string =>
  word
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]+/gu, '')
    .normalize('NFKC')
    .toLowerCase();

interface Place {
  readonly reads: Pick<RecordReads, 'shaped'>;
  readonly collection: Collection;
  readonly search: Search;
  readonly filter: string | undefined;
  readonly ruleContext: RuleContext;
}

/** The known words near the suspects that no visible record has. */
async function findCandidates(place: Place, suspects: readonly Suspect[]): Promise<Candidate[]> {
  const { reads, collection, search, filter, ruleContext } = place;
  const parameters = createParameters();
  const condition = readCondition(collection, filter, { row: 't', parameters }, ruleContext);
  const known = knownWordsTableOf(collection, search.index);
  const lists = suspects.map((suspect, at) => {
    const match = compileMatch(collection, { ...search, parsed: searchFor(suspect.term) }, parameters);
    const visible = countSql(matchesFrom(collection, search, match, condition));
    return `select ${at} as suspect, case when ${visible} > 0 then '{}'
      else (select array_agg(k.word) from ${known} k where ${nearSql(suspect, parameters)}) end as words`;
  });
  const found = await reads.shaped<{ suspect: number; words: readonly string[] | null }>({
    text: lists.join(' union all '),
    values: parameters.values(ruleContext.request),
    onPrimary: parameters.readsAccount,
  });
  return found.flatMap(({ suspect, words }) => {
    const typo = suspects[suspect];
    if (!typo) throw new Error('the answer names a word that the search lacks');
    return (words ?? [])
      .map((word) => ({ suspect, word, distance: typoDistance(typo.letters, [...word], typo.most) }))
      .filter(({ distance }) => distance <= typo.most)
      .sort((a, b) => a.distance - b.distance || (a.word < b.word ? -1 : 1))
      .slice(0, maxCandidates);
  });
}

/** Holds for every word that is near enough, and for few others: it may lack few of the letters, and have few others. */
function nearSql({ letters, most }: Suspect, parameters: Pick<ReturnType<typeof createParameters>, 'fixed'>): string {
  const mask = parameters.fixed(String(lettersOf(letters)), 'bigint');
  return `length(k.word) between ${letters.length - most} and ${letters.length + most}
    and bit_count((k.letters & ~${mask})::bit(64)) <= ${most} and bit_count((${mask} & ~k.letters)::bit(64)) <= ${most}`;
}

/** A bit for each letter, like the column `letters` of known words. */
const lettersOf = (letters: readonly string[]): bigint =>
  letters.reduce((mask, letter) => mask | (1n << BigInt((letter.codePointAt(0) ?? 0) % 63)), 0n);

/** How many visible records have each candidate's word. */
async function countVisible(
  { reads, collection, search, filter, ruleContext }: Place,
  candidates: readonly Candidate[],
): Promise<number[]> {
  const parameters = createParameters();
  const condition = readCondition(collection, filter, { row: 't', parameters }, ruleContext);
  const words = parameters.fixed(
    candidates.map(({ word }) => word),
    'text[]',
  );
  const parsed = searchFor({ text: '', isPhrase: false, isPrefix: false });
  const { hasWords, readsRecord } = compileMatch(collection, { ...search, parsed }, { fixed: () => 'c.word' });
  const matches = matchesFrom(collection, search, { condition: hasWords, readsRecord }, condition);
  const counts = await reads.shaped<{ visible: number }>({
    text: `select ${countSql(matches)} as visible
      from unnest(${words}) with ordinality c(word, n) order by c.n`,
    values: parameters.values(ruleContext.request),
    onPrimary: parameters.readsAccount,
  });
  return counts.map(({ visible }) => visible);
}

const countSql = (matches: string): string =>
  `(select count(*)::integer from (select ${matches} limit ${maxCounted}) m)`;

const searchFor = (term: SearchTerm): ParsedSearch => ({ wanted: [[term]], unwanted: [], words: 1 });

function withCorrections(search: Search, corrections: ReadonlyMap<SearchTerm, readonly string[]>): Search {
  const { parsed } = search;
  const wanted = parsed.wanted.map((terms) =>
    terms.flatMap(
      (term) => corrections.get(term)?.map((text) => ({ text, isPhrase: false, isPrefix: false })) ?? [term],
    ),
  );
  const corrected: Corrections = Object.fromEntries([...corrections].map(([{ text }, words]) => [text, words]));
  return { ...search, parsed: { ...parsed, wanted }, corrected };
}
