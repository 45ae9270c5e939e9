import fc from 'fast-check';

/** A record that owns a webhook. */
interface Crew {
  readonly region: string;
  readonly level: number;
}

/** A record whose events owners get. */
interface Load {
  readonly crew: string;
  readonly region: string;
  readonly amount: number;
  readonly n: number;
  readonly note: string;
}

/** What decides who gets what. */
export interface State {
  rule: string;
  isNoteHidden: boolean;
  readonly crews: Map<string, Crew>;
  readonly loads: Map<string, Load>;
  /** Counts writes; each record has the number of its last one. */
  n: number;
}

/** A write that was made. */
export interface Written {
  readonly action: 'create' | 'update' | 'delete';
  readonly id: string;
  readonly record: Load;
  readonly previous: Load | undefined;
}

/** What an owner receives. */
export interface Told {
  readonly event: string;
  readonly id: string;
  /** Null where it receives only the id. */
  readonly n: number | null;
  readonly hasNote: boolean;
  readonly hasPast: boolean;
}

export const toldOf = ({ event, id, n, hasNote, hasPast }: Told): string =>
  `${event} ${id} ${n} ${hasNote ? 'with' : 'without'} its note ${hasPast ? 'and its past' : ''}`;

/** The rules, each with what it means in plain words. */
const meanings: Readonly<Record<string, (load: Load, crew: Crew, id: string) => boolean>> = {
  '': () => false,
  'crew = @owner.id': ({ crew }, _, id) => crew === id,
  'not (crew = @owner.id)': ({ crew }, _, id) => crew !== id,
  'region = @owner.region': ({ region }, crew) => region === crew.region,
  'amount > @owner.level': ({ amount }, crew) => amount > crew.level,
  'crew = @owner.id && amount > 1': ({ crew, amount }, _, id) => crew === id && amount > 1,
  'region = @owner.region || crew = @owner.id': ({ crew, region }, own, id) => region === own.region || crew === id,
  'not (region = @owner.region && amount > @owner.level)': ({ region, amount }, crew) =>
    !(region === crew.region && amount > crew.level),
};

const regions = fc.constantFrom('north', 'south');
const writes = fc.array(
  fc.record({
    action: fc.constantFrom('create' as const, 'update' as const, 'update' as const, 'delete' as const),
    index: fc.nat(20),
    crew: fc.nat(2),
    region: regions,
    amount: fc.nat(3),
  }),
  { minLength: 5, maxLength: 8 },
);
const changes = fc.record({
  kind: fc.constantFrom(
    'rule' as const,
    'rule' as const,
    'rule' as const,
    'field' as const,
    'owner' as const,
    'end' as const,
  ),
  crew: fc.nat(2),
  rule: fc.constantFrom(...Object.keys(meanings)),
  region: regions,
});

/** Writes, and what changes after them. */
export interface Phase {
  readonly writes: readonly {
    readonly action: 'create' | 'update' | 'delete';
    readonly index: number;
    readonly crew: number;
    readonly region: string;
    readonly amount: number;
  }[];
  /** The owner whose deliveries wait until after the change; none if there is no such owner. */
  readonly holds: number;
  readonly change: {
    readonly kind: 'rule' | 'field' | 'owner' | 'end';
    readonly crew: number;
    readonly rule: string;
    readonly region: string;
  };
}

const phase: fc.Arbitrary<Phase> = fc.record({ writes, holds: fc.nat(5), change: changes });

/** Some phases; the first one sets a rule. */
export const phases: fc.Arbitrary<readonly Phase[]> = fc
  .array(phase, { minLength: 10, maxLength: 10 })
  .map(([first, ...rest]) =>
    first ? [{ ...first, change: { ...first.change, kind: 'rule', rule: 'region = @owner.region' } }, ...rest] : [],
  );

/** Says what an owner gets of some writes: with the state when deliveries were made, and the one when they were sent. */
export function expectedOf(written: readonly Written[], id: string, made: State, sent: State): Told[] {
  return written.flatMap(({ action, id: load, record, previous }): Told[] => {
    const holds = (state: State, one: Load | undefined): boolean => {
      const crew = state.crews.get(id);
      return one !== undefined && crew !== undefined && meanings[state.rule]?.(one, crew, id) === true;
    };
    const [held, isHeld] = [holds(made, previous), holds(made, record)];
    if (action === 'update' && held && !isHeld)
      return holds(sent, previous) ? [{ event: 'loads.leave', id: load, n: null, hasNote: false, hasPast: false }] : [];
    if (!isHeld || !holds(sent, record)) return [];
    return [
      {
        event: `loads.${action}`,
        id: load,
        n: record.n,
        hasNote: !made.isNoteHidden && !sent.isNoteHidden,
        hasPast: action === 'update' && held && holds(sent, previous),
      },
    ];
  });
}
