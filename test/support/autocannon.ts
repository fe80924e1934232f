/** For benches: they are outside of the folder whose packages have it. */
export { default } from 'autocannon';
