import assert from 'node:assert/strict';
import { listAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { type Caller, runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology, onOneProcess } from '../harness/stacks/target.ts';
import { createRandom } from './random.ts';

const text = encodeURIComponent;
const hour = 3600;

onEachTopology('aggregates compute with fields', async (t, target) => {
  const admin = await target.admin();
  const define = (name: string, fields: readonly object[], more: object = {}) =>
    admin.post('/api/v1/collections', { name, type: 'base', fields, list_rule: null, view_rule: null, ...more });
  await define('teams', [{ name: 'rate', type: 'number' }]);
  await define(
    'tickets',
    [
      { name: 'title', type: 'text' },
      { name: 'opened', type: 'date' },
      { name: 'solved', type: 'date' },
      { name: 'price', type: 'number' },
      { name: 'amount', type: 'number' },
      { name: 'cost', type: 'number', view_rule: 'price < 3' },
      { name: 'code', type: 'text', options: { encrypted: true } },
      { name: 'v0', type: 'number' },
      { name: 'team', type: 'relation', collection: 'teams' },
    ],
    { list_rule: 'title != "hidden"' },
  );
  const team = await admin.create('teams', { rate: 3 });
  await admin.create('teams', { rate: 1e200 });
  const open = (values: object) => admin.create('tickets', values);
  await open({ title: 'a', opened: 0, solved: 4 * hour, price: 2, amount: 5, cost: 1, v0: 7, team: team.id });
  await open({ title: 'a', opened: hour, solved: 3 * hour, price: 3, amount: 0, cost: 100, v0: 8 });
  await open({ title: 'b', opened: 2 * hour, price: 10, amount: 4 });
  await open({ title: 'hidden', opened: 0, solved: 1000 * hour, price: 1000, amount: 1000 });

  const path = (query: object) =>
    `GET /api/v1/tickets/aggregate?${Object.entries(query)
      .map(([name, value]) => `${name}=${text(String(value))}`)
      .join('&')}`;
  const shows = (name: string, query: object, data: unknown, as: Caller = 'guest'): Scenario => ({
    name,
    as,
    request: path(query),
    expect: { status: 200, json: is.containing({ data }) },
    spec: 'records §16.4',
  });
  const invalid = (name: string, query: object, error: RegExp, parameter = Object.keys(query)[0] ?? ''): Scenario => ({
    name,
    request: path(query),
    expect: {
      status: 400,
      json: is.containing({ error: is.matching(error), details: is.containing({ [parameter]: is.text }) }),
    },
    spec: 'records §16.4',
  });
  const duration = 'solved - opened';
  const average = `avg(${duration})`;

  await runScenarios(t, target, [
    shows('the seconds between two dates', { avg: duration }, [{ [average]: 3 * hour }]),
    shows('groups', { group: 'title', avg: duration }, [
      { title: 'a', [average]: 3 * hour },
      { title: 'b', [average]: null },
    ]),
    shows('every function', { sum: 'price * amount', min: 'price - amount', max: '-price' }, [
      { 'sum(price * amount)': 50, 'min(price - amount)': -3, 'max(-price)': -2 },
    ]),
    shows('* before +, and parentheses', { sum: 'price + amount * 2,(price+amount)*2' }, [
      { 'sum(price + amount * 2)': 33, 'sum((price+amount)*2)': 48 },
    ]),
    shows('from left to right', { sum: 'price - amount - 1,price / 2 / 5' }, [
      { 'sum(price - amount - 1)': 3, 'sum(price / 2 / 5)': 1.5 },
    ]),
    shows('nothing divided by zero', { sum: 'price / amount' }, [{ 'sum(price / amount)': 2.9 }]),
    shows('dates and numbers', { max: 'opened + 1.5', min: '60 + opened - price' }, [
      { 'max(opened + 1.5)': 2 * hour + 1, 'min(60 + opened - price)': 58 },
    ]),
    shows('paths over relations', { sum: 'price * team.rate' }, [{ 'sum(price * team.rate)': 6 }]),
    shows('a sort by the value', { group: 'title', sum: 'price*amount', sort: '-sum(price * amount)' }, [
      { title: 'b', 'sum(price*amount)': 40 },
      { title: 'a', 'sum(price*amount)': 10 },
    ]),
    shows('a sort by a field in the same way', { group: 'title', sum: 'price', sort: '-sum(price)' }, [
      { title: 'b', sum_price: 10 },
      { title: 'a', sum_price: 5 },
    ]),
    shows(
      'groups that having selects',
      { group: 'title', sum: 'price * amount,v0', having: '(sum(price*amount) > 5 && sum(v0) = 15) // sum(x)' },
      [{ title: 'a', 'sum(price * amount)': 10, sum_v0: 15 }],
    ),
    shows('a text in having that looks like a value', { group: 'title', having: 'title != "sum(price)"', count: 1 }, [
      { title: 'a', count: 2 },
      { title: 'b', count: 1 },
    ]),
    shows('only what the caller may see of a field', { sum: 'price + cost' }, [{ 'sum(price + cost)': 3 }]),
    shows('the same for one who sees more', { sum: 'price + cost' }, [{ 'sum(price + cost)': 106 }], 'admin'),
    shows('a period in a time zone next to it', { group: 'day(opened)', sum: 'price * 1', tz: 'Europe/Berlin' }, [
      { day_opened: -hour, 'sum(price * 1)': 15 },
    ]),
    invalid('an unknown field', { sum: 'price * weight' }, /no field "weight"/),
    invalid('a text', { sum: 'price * title' }, /cannot compute number \* text \(character 7\)/),
    invalid('two dates added', { max: 'opened + solved' }, /cannot compute date \+ date/),
    invalid('a date times a number', { max: 'opened * 2' }, /cannot compute date \* number/),
    invalid('a number minus a date', { max: 'price - opened' }, /cannot compute number - date/),
    invalid('a negative date', { max: '-opened' }, /cannot compute - date/),
    invalid('an average of dates', { avg: 'opened + 1' }, /takes no date/),
    invalid('an encrypted field', { sum: 'price * code' }, /code/),
    invalid('nothing but numbers', { sum: '1 + 2' }, /names a field/),
    invalid('a missing operand', { sum: 'price *' }, /expected a field or a number, found the end \(character 8\)/),
    invalid('a missing operator', { sum: 'price amount' }, /%2B/),
    invalid('a missing parenthesis', { sum: '(price + amount' }, /expected \)/),
    invalid('too many parentheses', { sum: 'price + amount)' }, /expected an operator/),
    invalid('another operator', { sum: 'price % 2' }, /unexpected "%"/),
    invalid('a function', { sum: 'sqrt(price)' }, /expected an operator/),
    invalid('11 fields', { sum: Array.from({ length: 11 }, () => 'price').join('+') }, /at most 10/),
    invalid('301 characters', { sum: `price +${' '.repeat(300)}1` }, /at most 300/),
    invalid('the same value twice', { sum: 'price * 2,price * 2' }, /two members/, 'group'),
    invalid('a sort by a value that is not computed', { sort: 'sum(price * 2)', sum: 'price' }, /no member/),
    invalid('having with a value that is not computed', { having: 'sum(price * 2) > 1', sum: 'price' }, /no member/),
    invalid('having without a parenthesis', { having: 'sum(price > 1', sum: 'price' }, /expected \)/),
    invalid('a calculation as a key', { group: 'price * 2' }, /price/),
    {
      name: 'a value that no number holds',
      request: 'GET /api/v1/teams/aggregate?sum=rate*rate',
      expect: { status: 422, json: is.containing({ code: 'number_too_large' }) },
      spec: 'records §16.3',
    },
  ]);
});

type Values = Readonly<Record<string, number | null>>;

/** A calculation's text, and what it gives for a record. */
interface Calculation {
  readonly text: string;
  readonly of: (values: Values) => number | null;
}

const operations: Readonly<Record<string, (a: number, b: number) => number | null>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => (b === 0 ? null : a / b),
};

const combine = (operator: string, left: Calculation, right: Calculation): Calculation => ({
  text: `(${left.text} ${operator} ${right.text})`,
  of(values) {
    const [a, b] = [left.of(values), right.of(values)];
    return a === null || b === null ? null : (operations[operator]?.(a, b) ?? null);
  },
});

const negative = ({ text: inner, of }: Calculation): Calculation => ({
  text: `-${inner}`,
  of(values) {
    const value = of(values);
    return value === null ? null : -value;
  },
});

onOneProcess('aggregates compute what a program computes', async (t, target) => {
  const random = createRandom(3);
  const pick = <T>(items: readonly [T, ...T[]]): T => items[random(items.length)] ?? items[0];
  const admin = await target.admin();
  const fields = ['a', 'b', 'c'].map((name) => ({ name, type: 'number' }));
  const dates = ['d', 'e'].map((name) => ({ name, type: 'date' }));
  await admin.post('/api/v1/collections', {
    name: 'rows',
    fields: [...fields, ...dates, { name: 'kind', type: 'text' }],
    list_rule: 'kind != "z"',
  });
  const number = () => (random(6) === 0 ? null : random(21) - 10);
  const date = () => (random(6) === 0 ? null : random(2_000_000));
  const rows = Array.from({ length: 120 }, () => ({
    values: { a: number(), b: number(), c: number(), d: date(), e: date() },
    kind: pick(['x', 'y', 'z']),
  }));
  const creates = rows.map(({ values, kind }) => ({ op: 'create', collection: 'rows', data: { ...values, kind } }));
  const { status, text: answer } = await admin.send('POST', '/api/v1/batch', { body: { operations: creates } });
  assert.equal(status, 200, answer);

  const constant = (value: number): Calculation => ({ text: String(value), of: () => value });
  const field = (name: string): Calculation => ({ text: name, of: (values) => values[name] ?? null });
  function calculation(depth: number): Calculation {
    if (depth === 0) return random(4) === 0 ? constant(random(90) / 10) : field(pick(['a', 'b', 'c']));
    const sign = pick(['+', '-', '*', '/']);
    const isDuration = random(5) === 0;
    const left = isDuration ? field('d') : calculation(random(depth));
    const right = isDuration ? field('e') : calculation(random(depth));
    const operator = isDuration ? '-' : sign;
    return random(6) === 0 ? negative(combine(operator, left, right)) : combine(operator, left, right);
  }
  const functions: Readonly<Record<string, (values: readonly number[]) => number>> = {
    sum: (values) => values.reduce((sum, value) => sum + value, 0),
    avg: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
    min: (values) => Math.min(...values),
    max: (values) => Math.max(...values),
  };
  const visible = rows.filter(({ kind }) => kind !== 'z');

  for (let round = 0; round < 60; round += 1) {
    const inner = calculation(3);
    const { text: written, of } = /[a-e]/.test(inner.text) ? inner : combine('*', field('a'), inner);
    const name = pick(['sum', 'avg', 'min', 'max']);
    const member = `${name}(${written})`;
    await t.test(`${member} [records §16.4]`, async () => {
      const query = `group=kind&${name}=${text(written)}&sort=${text(`-${member}`)},kind`;
      const { status: code, json, text: body } = await target.guest.get(`/api/v1/rows/aggregate?${query}`);
      assert.equal(code, 200, body);
      const groups = new Map(listAt(json, 'data').map((group) => [group.kind, group[member]]));
      for (const kind of ['x', 'y']) {
        const computed = visible.filter((row) => row.kind === kind).flatMap(({ values }) => of(values) ?? []);
        const expected = computed.length === 0 ? null : (functions[name]?.(computed) ?? null);
        const given = groups.get(kind) ?? null;
        if (expected === null) assert.equal(given, null);
        else
          assert.ok(
            Math.abs(Number(given) - expected) <= 1e-9 * Math.max(1, Math.abs(expected)),
            `${kind}: ${given} is not ${expected}`,
          );
      }
    });
  }
});
