export { type TestField, testCollection } from '@recordbus/schema/testing';
