import { test } from 'node:test';
import { assertReads, testField } from '../../test/test-field.ts';

test('a point has a latitude and a longitude within their bounds [fields §3.13]', () => {
  const refused = new Error('must be {lat, lng} with lat from -90 to 90 and lng from -180 to 180');
  assertReads(testField('geoPoint'), [
    [{ lng: -180, lat: 90 }, '{"lat":90,"lng":-180}'],
    [{ lat: 47.3768866, lng: 8.541694 }, '{"lat":47.3768866,"lng":8.541694}'],
    [{ lat: 90.1, lng: 0 }, refused],
    [{ lat: 0, lng: -180.1 }, refused],
    [{ lat: 0 }, refused],
    [{ lat: 0, lng: 0, alt: 3 }, refused],
    [{ lat: '1', lng: 0 }, refused],
    [{ lat: null, lng: 0 }, refused],
    [[1, 2], refused],
    ['1,2', refused],
  ]);
});
