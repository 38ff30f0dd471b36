import '@scratchfs/core/encodings';
