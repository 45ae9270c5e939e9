import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { type NumericDates, readDateText, readDateValue } from './date-text.ts';

const noon = Date.UTC(2024, 0, 15, 12) / 1000;
const midnight = Date.UTC(2024, 0, 15) / 1000;

describe('date texts [fields §3.6]', () => {
  const processZone = process.env.TZ;
  afterEach(() => {
    if (processZone === undefined) delete process.env.TZ;
    else process.env.TZ = processZone;
  });

  const dates: readonly (readonly [text: string, seconds: number])[] = [
    ['2024-01-15', midnight],
    ['2024-01-15T12:00', noon],
    ['2024-01-15 12:00:00', noon],
    ['2024-01-15t12:00:00z', noon],
    ['2024-01-15T12:00:00.999999999Z', noon],
    ['2024-01-15T12:00:00,5', noon],
    ['2024-01-15T12:00:00+00', noon],
    ['2024-01-15T13:30:00+01:30', noon],
    ['2024-01-15 07:00:00-0500', noon],
    ['2024-01-15 12:00:00.000Z', noon],
    ['2024-01-15 12:00:00 UTC', noon],
    ['2024-01-15 12:00:00 +0000', noon],
    ['20240115T120000Z', noon],
    ['20240115T1200', noon],
    ['2024-01-15Z', midnight],
    ['2024-01-14T24:00:00Z', midnight],
    ['2024-01', Date.UTC(2024, 0) / 1000],
    ['  2024-01-15\n', midnight],
    ['2016-12-31T23:59:60Z', Date.UTC(2017, 0) / 1000],
    ['2017-01-01T01:59:60+02:00', Date.UTC(2017, 0) / 1000],
    ['0001-01-01T00:00:00Z', -62_135_596_800],
    ['9999-12-31T23:59:59Z', 253_402_300_799],
    ['+010000-01-01T00:00:00.000Z', 253_402_300_800],
    ['+275760-09-13T00:00:00.999Z', 8.64e12],
    ['-271821-04-20', -8.64e12],
    ['-000001-12-31T00:00:00.000Z', -62_167_305_600],
    ['1969-12-31T23:59:58.100Z', -2],
    // RFC 9110 §5.6.7
    ['Sun, 06 Nov 1994 08:49:37 GMT', 784_111_777],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 784_111_777],
    ['Sun Nov  6 08:49:37 1994', 784_111_777],
    // RFC 5322, appendix A
    ['Fri, 21 Nov 1997 09:55:06 -0600', 880_127_706],
    ['Thu, 13 Feb 1969 23:32 -0330', -27_723_480],
    ['Thu,\r\n 13\r\n Feb\r\n 1969\r\n 23:32\r\n -0330 (Newfoundland Time)', -27_723_480],
    ['21 Nov 97 09:55:06 GMT', 880_106_106],
    ['21 Nov 1997 09:55:06 EST', 880_124_106],
    // What Date.toString writes
    ['Mon Jan 15 2024 13:00:00 GMT+0100 (Central European Standard Time)', noon],
    ['January 15, 2024', midnight],
    ['15 January 2024', midnight],
    ['15 Jan 2024 12:00', noon],
    ['jan. 15th, 2024 at 12:00 PM', noon],
    ['15-JAN-2024', midnight],
    ['2024-Jan-15', midnight],
    ['Jan 15 2024 12:00AM', midnight],
    ['Mon Jan 15 12:00:00 UTC 2024', noon],
    ['01/15/2024', midnight],
    ['1/15/2024 12:00', noon],
    ['1/15/2024, 12:00:00 PM', noon],
  ];

  for (const [text, seconds] of dates)
    it(`${JSON.stringify(text)} is ${seconds}, whatever the process's time zone`, () => {
      for (const timeZone of ['UTC', 'America/New_York', 'Asia/Kolkata']) {
        process.env.TZ = timeZone;
        assert.equal(readDateText(text), seconds, timeZone);
      }
    });

  const others = [
    '',
    'foo 1',
    'room 12',
    'tomorrow',
    '12',
    '2024',
    '20240115',
    '1705312800',
    '1705312800000',
    '-1.9',
    '２０２４-01-01',
    '٢٠٢٤-01-01',
    '2024-02-30',
    '2023-02-29',
    '1900-02-29',
    '2024-00-10',
    '2024-13-01',
    '2024-01-00',
    '2024-1-5',
    '2024/01/15',
    '2024.01.15',
    '15.01.2024',
    '05.01.2024',
    '05-01-2024',
    '15/01/2024',
    '02/30/2024',
    '01/15/24',
    '1/2-2024',
    '24-01-15',
    '2024-01-15T25:00',
    '+275760-09-13T00:00:01Z',
    '-271821-04-20T00:00+01:00',
    '2024-01-15T24:00:01',
    '2024-01-15T24:00:00.5',
    '2024-01-15T12:60',
    '2024-01-15T12:00:60Z',
    '2024-01-15T12:00:61Z',
    '2024-01-15T12',
    '2024-01-15T12:00:00+24:00',
    '2024-01-15T12:00:00+01:60',
    '2024-01-15T12:00:00 CET',
    '2024-01-15T12:00:00Z+01:00',
    '2024-01-15T12:00:00Zx',
    '-000000-01-01',
    '+999999-01-01',
    '30 Feb 2024',
    'Feb 30, 2024',
    '15 Januar 2024',
    '15 Jan 24',
    'Tue, 15 Jan 2024 12:00:00 GMT',
    'Jan 15 2024 13:00 PM',
    'Jan 15 2024 0:30 AM',
    `2024-01-15${' '.repeat(100)}`,
  ];
  for (const text of others) it(`${JSON.stringify(text)} is none`, () => assert.equal(readDateText(text), undefined));

  const numeric: readonly (readonly [text: string, order: NumericDates, day: string | undefined])[] = [
    ['01/02/2024', 'slashes', '2024-01-02'],
    ['01.02.2024', 'slashes', undefined],
    ['01/02/2024', 'none', undefined],
    ['2024-01-02', 'none', '2024-01-02'],
    ['01/02/2024', 'mdy', '2024-01-02'],
    ['1.2.2024', 'mdy', '2024-01-02'],
    ['01-02-2024 00:00', 'mdy', '2024-01-02'],
    ['01/02/2024', 'dmy', '2024-02-01'],
    ['1.2.2024', 'dmy', '2024-02-01'],
    ['01-02-2024', 'dmy', '2024-02-01'],
    ['31.12.2024', 'mdy', undefined],
    ['12/31/2024', 'dmy', undefined],
    ['30.02.2024', 'dmy', undefined],
    ['2024-01-02', 'dmy', '2024-01-02'],
    ['2 January 2024', 'mdy', '2024-01-02'],
  ];
  for (const [text, order, expected] of numeric)
    it(`${text} in the order ${order} is ${expected ?? 'none'}`, () => {
      const seconds = readDateText(text, order);
      assert.equal(seconds && new Date(seconds * 1000).toISOString().slice(0, 10), expected);
    });
});

describe('date values', () => {
  it('cuts a fraction towards the past', () => {
    assert.equal(readDateValue(-1.9), -2);
    assert.equal(readDateValue(1.9), 1);
    assert.equal(readDateValue('1969-12-31T23:59:58.1Z'), -2);
  });

  it('takes no number above 10^11, since it is in milliseconds', () => {
    assert.equal(readDateValue(1e11), 1e11);
    assert.equal(readDateValue(-1e11), -1e11);
    for (const value of [1e11 + 1, 1_705_312_800_000, -1_705_312_800_000, Number.POSITIVE_INFINITY])
      assert.match(String(readDateValue(value)), /milliseconds\?/);
  });

  it('names the parameter for a date in another order', () => {
    assert.match(String(readDateValue('05.01.2024', 'none')), /dates=mdy or dates=dmy/);
    assert.doesNotMatch(String(readDateValue('05.01.2024')), /dates=/);
    assert.doesNotMatch(String(readDateValue('soon', 'none')), /dates=/);
  });

  it('takes nothing else', () => {
    for (const value of [true, null, undefined, {}, [0], Number.NaN])
      assert.match(String(readDateValue(value)), /must be unix seconds or a date/);
  });
});

/** A plain calendar: counts the days from 1970, year by year and month by month. */
function daysBefore(year: number, month: number): number {
  const isLeap = (one: number) => one % 4 === 0 && (one % 100 !== 0 || one % 400 === 0);
  let days = 0;
  for (let one = 1970; one < year; one += 1) days += isLeap(one) ? 366 : 365;
  for (let one = year; one < 1970; one += 1) days -= isLeap(one) ? 366 : 365;
  for (let one = 1; one < month; one += 1) days += lengthOf(year, one);
  return days;
}

function lengthOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

const monthNames = 'January February March April May June July August September October November December'.split(' ');
const two = (value: number) => String(value).padStart(2, '0');

describe('every day in some centuries, against a plain calendar', () => {
  for (const [from, to] of [
    [1, 5],
    [1898, 1905],
    [1965, 1975],
    [1999, 2040],
    [2098, 2104],
  ] as const)
    it(`years ${from} to ${to}`, () => {
      let seed = from;
      const random = (below: number): number => {
        seed = (seed * 48_271) % 2_147_483_647;
        return seed % below;
      };
      for (let year = from; year <= to; year += 1)
        for (let month = 1; month <= 12; month += 1) {
          const before = daysBefore(year, month);
          const name = monthNames[month - 1] ?? '';
          const y = String(year).padStart(4, '0');
          for (let day = 1; day <= 31; day += 1) {
            const exists = day <= lengthOf(year, month);
            const [hour, minute, second] = [random(24), random(60), random(60)];
            const [east, sign] = [random(14 * 60), random(2) === 0 ? 1 : -1];
            const start = (before + day - 1) * 86_400;
            const time = start + hour * 3600 + minute * 60 + second;
            const clock = `${two(hour)}:${two(minute)}:${two(second)}`;
            const zone = `${sign > 0 ? '+' : '-'}${two(Math.floor(east / 60))}:${two(east % 60)}`;
            const zoned = time - sign * east * 60;
            const texts: [string, number][] = [
              [`${y}-${two(month)}-${two(day)}`, start],
              [`${y}-${two(month)}-${two(day)}T${clock}`, time],
              [`${y}-${two(month)}-${two(day)} ${clock}.${random(1000)}${zone}`, zoned],
              [`${y}${two(month)}${two(day)}T${clock.replaceAll(':', '')}${zone.replace(':', '')}`, zoned],
              [`${name} ${day}, ${y}`, start],
              [`${day} ${name.slice(0, 3)} ${y} ${clock} ${zone.replace(':', '')}`, zoned],
              [`${month}/${day}/${y}`, start],
            ];
            for (const [text, seconds] of texts) assert.equal(readDateText(text), exists ? seconds : undefined, text);
          }
        }
    });
});
