"""Access traces and histograms: files in declared formats, read in bounded memory."""
