# cmake -Dsource=FOLDER -Dfile=FILE -P commit.cmake
set(commit unknown)
execute_process(COMMAND git describe --always --abbrev=10 --exclude=* --dirty=\ with\ changes WORKING_DIRECTORY ${source} OUTPUT_VARIABLE told
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
if(status EQUAL 0)
  set(commit ${told})
endif()
set(text "#define MDPCOSIM_COMMIT \"${commit}\"\n")
if(EXISTS ${file})
  file(READ ${file} before)
endif()
if(NOT text STREQUAL "${before}")
  file(WRITE ${file} ${text})
endif()
