export { CODECS } from '@scratchfs/core/encodings';
