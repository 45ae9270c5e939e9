import { flag, freeText, pageQuery } from '@recordbus/http';
import { boundedText } from '@recordbus/text/bounded-text';

const paths = 'field paths, separated by commas';
const values = 'field paths, or calculations such as solved - created, separated by commas';

/** Longer than any time zone's name. */
const maxTimeZoneLength = 64;

/** An aggregate's query parameters (records §16.1). */
export const aggregateQuery = pageQuery.extend({
  group: freeText.describe(`${paths}, or day(path), week(path), month(path), year(path); one group without`),
  count: flag.describe('count the records in each group'),
  sum: freeText.describe(`${values}, to sum up`),
  avg: freeText.describe(`${values}, whose average to compute`),
  min: freeText.describe(`${values}, whose least value to find`),
  max: freeText.describe(`${values}, whose greatest value to find`),
  filter: freeText.describe('an expression in the filter language that selects records'),
  having: freeText.describe("an expression over the answer's members that selects groups"),
  sort: freeText.describe(
    "the answer's members, separated by commas, calculations as avg(solved - created); - before a name sorts descending",
  ),
  tz: boundedText(maxTimeZoneLength).optional().describe('time zone for periods, as an IANA name; UTC by default'),
});
